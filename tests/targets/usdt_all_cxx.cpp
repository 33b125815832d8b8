// build: -O2 -g
// SPDX-License-Identifier: BSD-2-Clause
//
// usdt_all, compiled as C++, where <sys/sdt.h> finds the size and sign of arguments by templates.
#include "tests/targets/usdt_all.c"
