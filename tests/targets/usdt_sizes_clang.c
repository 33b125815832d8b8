// build: -O2 -g
// compiler: clang
// SPDX-License-Identifier: BSD-2-Clause
#include "tests/targets/usdt_sizes.c"
