// build: -O2 -g -pthread -fcf-protection=none -fno-omit-frame-pointer
// SPDX-License-Identifier: BSD-2-Clause
//
// From `go` to `stop` three threads call one function each: busy_hot as fast as possible, which sometimes
// calls busy_below; busy_cool some hundred times a second; and busy_slow as often. Then the JSON has the
// number of calls.
//
// Expect: busy_hot, busy_below and busy_cool begin with `push` (cost `normal`), busy_slow with an instruction
// that is single-stepped and is not followed by a cheaper one (`slow`).
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "push_first.h"
#include "stdin_protocol.h"

static atomic_bool stopped;
static _Atomic uint64_t hot, below, cool, slow;

#define ADD_TO(counter) atomic_fetch_add_explicit(&counter, 1, memory_order_relaxed)

__attribute__((noipa)) void busy_below(void) {
  PUSH_FIRST;
  ADD_TO(below);
}

__attribute__((noipa)) void busy_hot(uint64_t seq) {
  PUSH_FIRST;
  ADD_TO(hot);
  // Rarely enough to stay cheap if nobody traces busy_hot and it runs at full speed.
  if (seq % 20000 == 0) busy_below();
}

__attribute__((noipa)) void busy_cool(void) {
  PUSH_FIRST;
  ADD_TO(cool);
}

// A leaf of two instructions.
__asm__(
    ".text\n.globl busy_slow\n.type busy_slow, @function\nbusy_slow:\n"
    "  incq slow_calls(%rip)\n  ret\n.size busy_slow, . - busy_slow\n"
    ".data\n.balign 8\nslow_calls: .quad 0\n.text\n");
void busy_slow(void);

static void* call_hot(void* none) {
  for (uint64_t seq = 1; !stopped; ++seq) busy_hot(seq);
  return none;
}

static void rest(void) { nanosleep(&(struct timespec){.tv_nsec = 2000000}, 0); }

static void* call_cool(void* none) {
  for (; !stopped; rest()) busy_cool();
  return none;
}

static void* call_slow(void* none) {
  for (; !stopped; rest()) {
    busy_slow();
    ADD_TO(slow);
  }
  return none;
}

int main(void) {
  void* (*const threads[])(void*) = {call_hot, call_cool, call_slow};
  pthread_t all[3];
  ready_and_wait_for_go();
  for (int i = 0; i < 3; ++i) pthread_create(&all[i], 0, threads[i], 0);
  wait_for_line("stop");
  stopped = true;
  for (int i = 0; i < 3; ++i) pthread_join(all[i], 0);
  printf("done\n{\"busy_hot\":%" PRIu64 ",\"busy_below\":%" PRIu64 ",\"busy_cool\":%" PRIu64
         ",\"busy_slow\":%" PRIu64 "}\n",
         hot, below, cool, slow);
  wait_for_exit();
}
