// build: -O0 -g -gdwarf-4
// SPDX-License-Identifier: BSD-2-Clause
#include "tests/targets/fields_more.c"
