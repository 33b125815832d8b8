// build: -O2 -g -fcf-protection=full
// SPDX-License-Identifier: BSD-2-Clause
//
// A loop in the vDSO: its time must never go backwards, and the values it reads must be consistent.
#define _GNU_SOURCE
#include <sched.h>
#include <sys/time.h>
#include <time.h>

#include "soak.h"

static uint64_t last_ns;

SOAK_FUNCTION uint64_t clock_now_ns(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

SOAK_FUNCTION bool clock_forward(void) {
  const uint64_t now_ns = clock_now_ns(CLOCK_MONOTONIC);
  const bool forward = now_ns >= last_ns;
  last_ns = now_ns;
  return forward;
}

SOAK_FUNCTION bool clock_cpu(void) {
  unsigned cpu = ~0u, node = ~0u;
  return getcpu(&cpu, &node) == 0 && cpu < CPU_SETSIZE && node != ~0u;
}

SOAK_FUNCTION bool clock_nested(void) {
  const uint64_t before = clock_now_ns(CLOCK_MONOTONIC);
  const uint64_t between = clock_now_ns(CLOCK_MONOTONIC);
  return before <= between && between <= clock_now_ns(CLOCK_MONOTONIC);
}

SOAK_FUNCTION uint64_t clock_nop5(uint64_t n) {
  NOP5_FIRST;
  return n + (time(NULL) > 0);
}

static uint64_t clock_round(void) {
  uint64_t sum = 0;
  for (uint64_t i = 0; i < 300; ++i)
    sum = mixed(sum, clock_nop5(clock_forward() + 2u * clock_cpu() + 4u * clock_nested()));
  return sum;
}

int main(void) { return soak_without_semaphores(clock_round); }
