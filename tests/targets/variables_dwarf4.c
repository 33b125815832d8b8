// build: -O1 -gdwarf-4 -fcf-protection=none -fomit-frame-pointer
// SPDX-License-Identifier: BSD-2-Clause
#include "tests/targets/variables.c"
