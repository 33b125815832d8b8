// build: -O2 -g -gdwarf-4 -fcf-protection=none
// SPDX-License-Identifier: BSD-2-Clause
#include "tests/targets/inlined.c"
