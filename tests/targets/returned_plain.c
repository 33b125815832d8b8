// build: -O2 -g0 -fcf-protection=none -Wno-psabi
// SPDX-License-Identifier: BSD-2-Clause
#include "tests/targets/returned.c"
