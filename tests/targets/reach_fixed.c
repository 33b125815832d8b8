// build: -O2 -g -fno-pie -no-pie
// SPDX-License-Identifier: BSD-2-Clause
//
// reach_fixed: runs where it is linked for, so its tables have no relocations.
#include "tests/targets/reach.c"
