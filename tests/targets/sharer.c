// build: -O2 -g -fcf-protection=none
// SPDX-License-Identifier: BSD-2-Clause
//
// sharer CALLS
//
// Calls shared() that often, and five times as often in a process that shares its memory, as a child of vfork() does.
#define _GNU_SOURCE
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <sys/wait.h>

#include "stdin_protocol.h"

static volatile uint64_t sum;

__attribute__((noipa)) void shared(uint64_t n) { sum += n; }

static void call(uint64_t calls) {
  for (uint64_t n = 0; n < calls; ++n) shared(n);
}

static int call_more(void* calls) {
  call(5 * *(uint64_t*)calls);
  return 0;
}

static bool call_in_another(uint64_t calls) {
  static _Alignas(16) char stack[64 * 1024];
  const pid_t pid =
      clone(call_more, stack + sizeof stack, CLONE_VM | CLONE_VFORK | SIGCHLD, &calls);
  int status = -1;
  return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

int main(int argc, char** argv) {
  const uint64_t calls = argc > 1 ? strtoull(argv[1], NULL, 10) : 100;
  ready_and_wait_for_go();
  call(calls);
  if (!call_in_another(calls)) return 1;
  call(calls);
  printf("done\n{\"calls\":%" PRIu64 ",\"sharer\":%" PRIu64 "}\n", 2 * calls, 5 * calls);
  wait_for_exit();
  return 0;
}
