// build: -O2 -g -gdwarf-5 -Wno-format
// compiler: clang
// SPDX-License-Identifier: BSD-2-Clause
#include "tests/targets/parameters.c"
