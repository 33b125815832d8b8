// build: -O2 -g -fcf-protection=none -fno-omit-frame-pointer
// SPDX-License-Identifier: BSD-2-Clause
//
// For each line `FUNCTION TIMES`, calls hot_nop5 or hot_push that often, as fast as possible, and answers
// with `done` and {"calls":..., "ns":...}. arg0 is the number of the call, from 0. `exit STATUS` ends it.
//
// Expect: hot_nop5 begins with a 5-byte nop (cost `fast`), which is also the probe hot:fast;
// hot_push begins with `push` (`normal`), and has the probe hot:normal, on a 1-byte nop. On other machines than x86-64
// both begin as they are compiled, and both probes are on the machine's nop.
#include <stdint.h>
#include <sys/sdt.h>
#include <time.h>

#include "push_first.h"
#include "stdin_protocol.h"

#pragma push_macro("_SDT_NOP")
#ifdef __x86_64__
#undef _SDT_NOP
#define _SDT_NOP .nops 5
#endif

static uint64_t calls;

__attribute__((noipa)) void hot_nop5(uint64_t seq, int32_t b, uint64_t c) {
  DTRACE_PROBE3(hot, fast, seq, b, c);
  calls += b == 2 && c == seq + 1;
}
#pragma pop_macro("_SDT_NOP")

__attribute__((noipa)) void hot_push(uint64_t seq, int32_t b, uint64_t c) {
  PUSH_FIRST;
  DTRACE_PROBE3(hot, normal, seq, b, c);
  calls += b == 2 && c == seq + 1;
}

static uint64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

int main(void) {
  printf("ready %d\n", (int)getpid());
  fflush(stdout);
  char name[64];
  unsigned long long times;
  while (scanf("%63s %llu", name, &times) == 2) {
    if (strcmp(name, "exit") == 0) return (int)times;
    void (*const function)(uint64_t, int32_t, uint64_t) =
        strcmp(name, "hot_nop5") == 0 ? hot_nop5 : hot_push;
    calls = 0;
    const uint64_t start = now_ns();
    for (uint64_t i = 0; i < times; ++i) function(i, 2, i + 1);
    const uint64_t took = now_ns() - start;
    printf("done\n{\"calls\":%llu,\"ns\":%llu}\n", (unsigned long long)calls,
           (unsigned long long)took);
    fflush(stdout);
  }
}
