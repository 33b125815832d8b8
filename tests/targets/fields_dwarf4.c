// build: -O2 -gdwarf-4 -fcf-protection=none
// SPDX-License-Identifier: BSD-2-Clause
#include "tests/targets/fields.c"
