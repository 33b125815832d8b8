// build: -O2 -g -fno-omit-frame-pointer -fno-optimize-sibling-calls -fcf-protection=none
// SPDX-License-Identifier: BSD-2-Clause
#include "stacks.h"
