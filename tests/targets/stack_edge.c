// build: -O2 -g -fomit-frame-pointer -fno-optimize-sibling-calls -fcf-protection=none
// SPDX-License-Identifier: BSD-2-Clause
//
// Calls on_edge on a new stack, from far down it, so that at its entry the stack pointer is less than the 128
// bytes of a red zone above a page that was never used. Reports {"below": bytes}, the distance.
//
// Expect: on_edge is called by above_edge, and the page below is not present while it runs.
#define _GNU_SOURCE
#include <alloca.h>
#include <pthread.h>
#include <stdint.h>

#include "stdin_protocol.h"

#define NOIPA __attribute__((noipa))

enum { kPage = 4096, kDown = 32 * kPage, kAbove = 64 };

static uint64_t below;

static inline uint64_t stack_pointer(void) {
  uint64_t rsp;
  __asm__ volatile("mov %%rsp, %0" : "=r"(rsp));
  return rsp;
}

NOIPA void on_edge(void) { below = stack_pointer() % kPage; }

NOIPA void above_edge(volatile char* down) {
  on_edge();
  (void)down;
}

// The skipped part is not touched.
NOIPA static void* go_down(void* none) {
  const uint64_t wanted = (stack_pointer() - kDown) / kPage * kPage + kAbove;
  above_edge(alloca(stack_pointer() - wanted));
  return none;
}

int main(void) {
  ready_and_wait_for_go();
  pthread_t thread;
  if (pthread_create(&thread, NULL, go_down, NULL) != 0) return 1;
  pthread_join(thread, NULL);
  printf("done\n{\"below\":%lu}\n", below);
  wait_for_exit();
  return 0;
}
