// build: -O2 -g -gdwarf-5 -fcf-protection=none
// compiler: clang
// SPDX-License-Identifier: BSD-2-Clause
#include "tests/targets/inlined.c"
