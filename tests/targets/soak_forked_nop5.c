// build: -O2 -g -fcf-protection=none
// SPDX-License-Identifier: BSD-2-Clause
//
// A forked child calls a function that begins with a 5-byte nop. Linux 6.18 turns a probed nop of that kind
// into a call to a page of its own, and omits that page in a child to which it copies the call: the child
// survives only if the tracer prevents the kernel from doing so.
#include <sys/wait.h>

#include "soak.h"

SOAK_FUNCTION uint64_t forked_nop5(uint64_t n) {
  NOP5_FIRST;
  return n * 7;
}

SOAK_FUNCTION uint64_t forked_child(uint64_t n) {
  const pid_t child = fork();
  if (child == 0) _exit((int)forked_nop5(n));
  int status = 0;
  if (waitpid(child, &status, 0) != child) return UINT64_MAX;
  return (uint64_t)status;
}

static uint64_t forked_round(void) {
  uint64_t sum = 0;
  for (uint64_t n = 0; n < 4; ++n) sum = mixed(forked_nop5(n), mixed(sum, forked_child(n)));
  return sum;
}

int main(void) { return soak_without_semaphores(forked_round); }
