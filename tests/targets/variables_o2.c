// build: -O2 -g -fcf-protection=none
// SPDX-License-Identifier: BSD-2-Clause
#include "tests/targets/variables.c"
