// build: -O2 -g -no-pie -fno-pie -fno-omit-frame-pointer -fno-optimize-sibling-calls -fcf-protection=none
// SPDX-License-Identifier: BSD-2-Clause
#define NAMED(function) second_##function
#include "exec_chain.h"
