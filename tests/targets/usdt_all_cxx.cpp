// build: -O2 -g
// SPDX-License-Identifier: BSD-2-Clause
//
// usdt_all, compiled as C++: <sys/sdt.h> finds sizes and signs of arguments by templates there.
#include "tests/targets/usdt_all.c"
