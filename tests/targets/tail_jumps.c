// build: -O2 -g -fcf-protection=none
// SPDX-License-Identifier: BSD-2-Clause
//
// Functions that end by jumping to others, and one call instruction that calls each of them.
#include <inttypes.h>
#include <stdint.h>

#include "stdin_protocol.h"

#define TRACED __attribute__((noipa))

static volatile uint64_t calls;

TRACED uint64_t jumps_end(uint64_t n) {
  ++calls;
  return n * 31 + 1;
}

TRACED uint64_t jumps_aside(uint64_t n) {
  ++calls;
  return n * 7 + 1;
}

TRACED uint64_t jumps_once(uint64_t n) {
  ++calls;
  return jumps_end(n + 1);
}

TRACED uint64_t jumps_middle(uint64_t n) {
  ++calls;
  return n & 1 ? n : jumps_end(n + 2);
}

TRACED uint64_t jumps_twice(uint64_t n) {
  ++calls;
  return jumps_middle(n + 3);
}

TRACED uint64_t jumps_elsewhere(uint64_t n) {
  ++calls;
  return n > 1000 ? jumps_end(n) : jumps_aside(n);
}

int main(void) {
  uint64_t (*const each[])(uint64_t) = {jumps_once, jumps_end,   jumps_twice,     jumps_end,
                                        jumps_end,  jumps_twice, jumps_elsewhere, jumps_end};
  uint64_t checksum = 0;
  ready_and_wait_for_go();
  for (uint64_t i = 0; i < sizeof each / sizeof *each; ++i)
    checksum = checksum * 1099511628211u + each[i](i);
  printf("done\n{\"checksum\":%" PRIu64 "}\n", checksum);
  wait_for_exit();
}
