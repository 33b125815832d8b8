// build: -O0 -g -gdwarf-5 -x c tests/targets/lines_unit.h
// compiler: clang
// SPDX-License-Identifier: BSD-2-Clause
#include "tests/targets/lines.c"
