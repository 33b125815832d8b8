// build: -O2 -g -fPIC -shared -fcf-protection=none
// SPDX-License-Identifier: BSD-2-Clause
//
// The plugin of grow, which calls it by pointers.
#include <stdint.h>

#define TRACED __attribute__((noipa))

TRACED uint64_t plugin_inner(uint64_t n) { return n * 7; }

TRACED uint64_t plugin_work(uint64_t n) { return plugin_inner(n) + 1; }
