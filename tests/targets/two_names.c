// build: -O2 -g -fno-optimize-sibling-calls
// SPDX-License-Identifier: BSD-2-Clause
//
// Calls outer, which calls inner, which is also named other.
#include <stdint.h>

#include "stdin_protocol.h"

#define TRACED __attribute__((noipa))

TRACED uint64_t inner(uint64_t n) { return n * 31 + 1; }
uint64_t other(uint64_t n) __attribute__((alias("inner")));

TRACED uint64_t outer(uint64_t n) { return inner(n) + n; }

int main(void) {
  ready_and_wait_for_go();
  printf("done\n{\"result\":%d}\n", (int)outer(1));
  wait_for_exit();
}
