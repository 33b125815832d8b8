// SPDX-License-Identifier: BSD-2-Clause
//
// stacks CALLS [DEPTH]
//
// Calls a known chain CALLS times: main, work, outer, middle (inlined into outer), deep (recursively, DEPTH
// times), and the innermost of these calls leaf. Reports what backtrace(3) finds in leaf the first time: the
// return addresses from leaf's caller outwards, and leaf's own address.
//
// Expect: leaf begins with `push %rbp` or another instruction, depending on the compiler; leaf_moved begins
// with a slow instruction, after which the probe is placed, and calls nothing.
#include <execinfo.h>
#include <stdint.h>

#include "stdin_protocol.h"

#define NOIPA __attribute__((noipa))

enum { kMost = 300 };

static void* found[kMost];
static int found_count;
static volatile uint64_t sum;

NOIPA void leaf(uint64_t n) {
  if (!found_count) found_count = backtrace(found, kMost);
  sum += n;
}

NOIPA void leaf_moved(uint64_t n) {
#ifdef __x86_64__
  asm volatile("" ::: "rbx", "r12");
#else
  asm volatile("" ::: "x19", "x20");
#endif
  sum += n * 3;
}

NOIPA void deep(uint64_t n, uint64_t depth) {
  volatile char room[256];
  room[0] = (char)depth;
  if (depth > 1)
    deep(n, depth - 1);
  else {
    leaf(n);
    leaf_moved(n);
  }
  sum += (uint64_t)room[0];
}

static inline __attribute__((always_inline)) void middle(uint64_t n, uint64_t depth) {
  deep(n + 1, depth);  // line of middle's call
  sum += 1;
}

NOIPA void outer(uint64_t n, uint64_t depth) {
  middle(n, depth);  // line of outer's call
  sum += 2;
}

NOIPA void work(uint64_t calls, uint64_t depth) {
  for (uint64_t n = 0; n < calls; ++n) outer(n, depth);
}

int main(int argc, char** argv) {
  const uint64_t calls = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
  const uint64_t depth = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
  ready_and_wait_for_go();
  work(calls, depth);
  printf("done\n{\"sum\":%llu,\"leaf\":%llu,\"backtrace\":[", (unsigned long long)sum,
         (unsigned long long)(uintptr_t)&leaf);
  for (int i = 1; i < found_count; ++i)
    printf("%s%llu", i > 1 ? "," : "", (unsigned long long)(uintptr_t)found[i]);
  printf("]}\n");
  wait_for_exit();
  return 0;
}
