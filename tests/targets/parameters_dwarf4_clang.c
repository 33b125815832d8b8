// build: -O2 -gdwarf-4 -Wno-format
// compiler: clang
// SPDX-License-Identifier: BSD-2-Clause
#include "tests/targets/parameters.c"
