// SPDX-License-Identifier: BSD-2-Clause
//
// Shared by the programs of the soak. Each has a round: work with the same checksum every time. The right one
// is computed before `ready`, so before anything is traced; from `go` until `stop` each round is compared
// with it. Then the numbers of rounds and of wrong ones are reported, and after `exit` the sum of the
// semaphores.
#pragma once

#include <inttypes.h>
#include <poll.h>
#include <stdint.h>

#include "nop5_first.h"
#include "stdin_protocol.h"

#define SOAK_FUNCTION __attribute__((noipa))

static inline uint64_t mixed(uint64_t sum, uint64_t value) {
  sum = (sum ^ value) * UINT64_C(0x9e3779b97f4a7c15);
  return sum ^ sum >> 29;
}

// True as soon as `stop` can be read. stdin is unbuffered, because poll cannot see what stdio has read ahead.
static inline bool input_waits(void) {
  struct pollfd input = {.fd = 0, .events = POLLIN, .revents = 0};
  return poll(&input, 1, 0) == 1;
}

// `semaphores`: null-terminated.
static inline int soak(uint64_t (*round)(void), const volatile unsigned short* const* semaphores) {
  setvbuf(stdin, NULL, _IONBF, 0);
  const uint64_t expected = round();
  if (round() != expected) {
    fprintf(stderr, "the rounds differ untraced\n");
    return 1;
  }
  uint64_t rounds = 0, wrong = 0;
  ready_and_wait_for_go();
  while (!input_waits()) {
    const uint64_t checksum = round();
    if (checksum != expected && wrong++ == 0)
      fprintf(stderr, "round %" PRIu64 ": %" PRIx64 ", not %" PRIx64 "\n", rounds, checksum,
              expected);
    ++rounds;
  }
  wait_for_line("stop");
  printf("done\n{\"rounds\":%" PRIu64 ",\"wrong\":%" PRIu64 ",\"checksum\":\"%016" PRIx64 "\"}\n",
         rounds, wrong, expected);
  wait_for_exit();
  unsigned semaphore_sum = 0;
  for (; *semaphores; ++semaphores) semaphore_sum += **semaphores;
  printf("%u\n", semaphore_sum);
  return 0;
}

static inline int soak_without_semaphores(uint64_t (*round)(void)) {
  const volatile unsigned short* const none[] = {NULL};
  return soak(round, none);
}
