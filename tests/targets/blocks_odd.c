// build: -O2 -g -D_GNU_SOURCE -fno-omit-frame-pointer -fcf-protection=none -fno-optimize-sibling-calls
// SPDX-License-Identifier: BSD-2-Clause
//
// blocks_odd exec | suspend
//
// Waits once in odd_waits, and then where an open call is not the one that waits: in the program that odd_exec executes,
// or on the thread's own stack while odd_suspended has left it on another.
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "stdin_protocol.h"

#define TRACED __attribute__((noipa))
#define BYTES_OF_STACK (64 << 10)

static ucontext_t own, other;
static char stack[BYTES_OF_STACK];

static void wait_a_while(void) {
  const struct timespec a_while = {0, 2000000};
  nanosleep(&a_while, NULL);
}

TRACED void odd_waits(void) { wait_a_while(); }

TRACED void odd_exec(void) {
  execl("/proc/self/exe", "blocks_odd", "executed", (char*)NULL);
  _exit(2);
}

TRACED void odd_suspended(void) { swapcontext(&other, &own); }

static void suspend(void) {
  if (getcontext(&other)) _exit(2);
  other.uc_stack.ss_sp = stack;
  other.uc_stack.ss_size = sizeof stack;
  other.uc_link = &own;
  makecontext(&other, odd_suspended, 0);
  swapcontext(&own, &other);
  wait_a_while();
  swapcontext(&own, &other);
}

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  if (argv[1][0] != 'e' || argv[1][4] == 0) {
    ready_and_wait_for_go();
    odd_waits();
    if (argv[1][0] == 'e') odd_exec();
    suspend();
  } else {
    wait_a_while();
  }
  printf("done\n{}\n");
  wait_for_exit();
  _exit(0);
}
