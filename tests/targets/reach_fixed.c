// build: -O2 -g -fno-pie -no-pie
// SPDX-License-Identifier: BSD-2-Clause
//
// reach_fixed: runs at its link address, so its tables have no relocations.
#include "tests/targets/reach.c"
