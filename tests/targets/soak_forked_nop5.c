// build: -O2 -g -fcf-protection=none
// SPDX-License-Identifier: BSD-2-Clause
//
// A forked child calls a function that begins with a 5-byte nop. Of such a nop, probed, Linux 6.18
// makes a call to a page of its own, and leaves that page out of a child it copies the call into: the
// child lives only if the tracer keeps the kernel from it.
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
