// build: -O2 -g -gdwarf-4 -fcf-protection=none -x c tests/targets/lines_unit.h
// SPDX-License-Identifier: BSD-2-Clause
#include "tests/targets/lines.c"
