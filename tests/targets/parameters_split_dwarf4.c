// build: -O1 -gdwarf-4 -gsplit-dwarf -fcf-protection=none
// SPDX-License-Identifier: BSD-2-Clause
#include "tests/targets/parameters.c"
