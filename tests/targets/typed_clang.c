// build: -O0 -std=gnu11
// compiler: clang
// SPDX-License-Identifier: BSD-2-Clause
#include "tests/targets/typed.c"
