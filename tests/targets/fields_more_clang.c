// build: -O2 -g -gdwarf-5
// compiler: clang
// SPDX-License-Identifier: BSD-2-Clause
#include "tests/targets/fields_more.c"
