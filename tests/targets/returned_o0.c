// build: -O0 -g -fcf-protection=none -Wno-psabi
// SPDX-License-Identifier: BSD-2-Clause
#include "tests/targets/returned.c"
