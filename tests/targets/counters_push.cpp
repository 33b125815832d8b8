// build: -O2 -g -pthread -fcf-protection=none
// SPDX-License-Identifier: BSD-2-Clause
//
// As counters.cpp, with functions that begin with `push` (cost `normal`): they trap at each hit, also under programs for
// which the kernel turns 5-byte nops into calls.
#include "nop5_first.h"
#include "push_first.h"

#undef NOP5_FIRST
#define NOP5_FIRST PUSH_FIRST

#include "counters.cpp"
