// build: -O0 -g -fcf-protection=none
// SPDX-License-Identifier: BSD-2-Clause
//
// Coroutines: a function is entered on one stack, suspended for another and resumed later.
#define _SDT_HAS_SEMAPHORES 1
#include <sys/sdt.h>
#include <ucontext.h>

#include "soak.h"

enum { kCoroutines = 6, kSteps = 12, kStackBytes = 64 << 10 };

__extension__ unsigned short soak_resumed_semaphore __attribute__((unused, section(".probes")));

static ucontext_t scheduler, coroutines[kCoroutines];
static char stacks[kCoroutines][kStackBytes];
static uint64_t sum;

SOAK_FUNCTION void coroutines_yield(int self, uint64_t value) {
  sum = mixed(sum, value);
  swapcontext(&coroutines[self], &scheduler);
  DTRACE_PROBE2(soak, resumed, self, value);
}

SOAK_FUNCTION void coroutines_descend(int self, int depth) {
  if (depth == 0) return;
  coroutines_yield(self, (uint64_t)(self * 100 + depth));
  coroutines_descend(self, depth - 1);
}

SOAK_FUNCTION void coroutines_body(int self) { coroutines_descend(self, kSteps); }

SOAK_FUNCTION void coroutines_resume(int one) { swapcontext(&scheduler, &coroutines[one]); }

SOAK_FUNCTION void coroutines_start(int one) {
  getcontext(&coroutines[one]);
  coroutines[one].uc_stack.ss_sp = stacks[one];
  coroutines[one].uc_stack.ss_size = kStackBytes;
  coroutines[one].uc_link = &scheduler;
  makecontext(&coroutines[one], (void (*)(void))coroutines_body, 1, one);
}

static uint64_t coroutines_round(void) {
  sum = 0;
  for (int i = 0; i < kCoroutines; ++i) coroutines_start(i);
  for (int step = 0; step <= kSteps; ++step)
    for (int i = 0; i < kCoroutines; ++i) coroutines_resume(i);
  return sum;
}

int main(void) {
  const volatile unsigned short* const semaphores[] = {&soak_resumed_semaphore, NULL};
  return soak(coroutines_round, semaphores);
}
