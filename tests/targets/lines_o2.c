// build: -O2 -g -fcf-protection=none -x c tests/targets/lines_unit.h
// SPDX-License-Identifier: BSD-2-Clause
#include "tests/targets/lines.c"
