// build: -O2 -g -fomit-frame-pointer -fno-optimize-sibling-calls -fcf-protection=none
// SPDX-License-Identifier: BSD-2-Clause
#include "stacks.h"
