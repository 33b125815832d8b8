// build: -O1 -g -fcf-protection=none -fpatchable-function-entry=1
// SPDX-License-Identifier: BSD-2-Clause
//
// longjmp out of traced frames, from deep calls and from a signal handler. Each function begins with a 1-byte
// nop.
#define _SDT_HAS_SEMAPHORES 1
#include <setjmp.h>
#include <signal.h>
#include <sys/sdt.h>

#include "soak.h"

__extension__ unsigned short soak_jump_semaphore __attribute__((unused, section(".probes")));
__extension__ unsigned short soak_landed_semaphore __attribute__((unused, section(".probes")));

static jmp_buf landing;
static sigjmp_buf handler_landing;

SOAK_FUNCTION uint64_t jumps_jump(uint64_t depth) {
  DTRACE_PROBE1(soak, jump, depth);
  longjmp(landing, (int)depth + 1);
}

SOAK_FUNCTION uint64_t jumps_descend(uint64_t depth, uint64_t bottom) {
  if (depth == bottom) return jumps_jump(depth);
  return jumps_descend(depth + 1, bottom) + depth;
}

SOAK_FUNCTION uint64_t jumps_land(uint64_t bottom) {
  const int landed = setjmp(landing);
  if (landed == 0) return jumps_descend(0, bottom);
  DTRACE_PROBE1(soak, landed, landed);
  return (uint64_t)landed;
}

SOAK_FUNCTION void jumps_from_handler(int signal) { siglongjmp(handler_landing, signal); }

SOAK_FUNCTION uint64_t jumps_signal(void) {
  const int landed = sigsetjmp(handler_landing, 1);
  if (landed == 0) raise(SIGUSR1);
  return (uint64_t)landed;
}

static uint64_t jumps_round(void) {
  uint64_t sum = 0;
  for (uint64_t i = 0; i < 100; ++i) {
    sum = mixed(sum, jumps_land(i % 17));
    if (i % 4 == 0) sum = mixed(sum, jumps_signal());
  }
  return sum;
}

int main(void) {
  signal(SIGUSR1, jumps_from_handler);
  const volatile unsigned short* const semaphores[] = {&soak_jump_semaphore, &soak_landed_semaphore,
                                                       NULL};
  return soak(jumps_round, semaphores);
}
