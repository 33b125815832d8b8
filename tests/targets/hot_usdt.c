// build: -O2 -g
// SPDX-License-Identifier: BSD-2-Clause
//
// hot_usdt [FUNCTION TIMES]
//
// For each line `FUNCTION TIMES`, calls plain, by_header, by_wide, by_sdt or by_tag that often, as fast as
// possible, and answers with `done` and {"calls":..., "ns":...}. They differ only in their probe: hot:header and
// hot:wide are probes of <tracectl/usdt.h>, of which the second has arguments on the stack, hot:sdt one of
// <sys/sdt.h> with a semaphore, tested as by dtrace(1); by_tag sets a tag.
#define _SDT_HAS_SEMAPHORES 1
#include <stdint.h>
#include <sys/sdt.h>
#include <time.h>
#include <tracectl/tag.h>
#include <tracectl/usdt.h>

#include "tests/targets/stdin_protocol.h"

TRACECTL_PROBE_DECLARE(hot, header, (uint64_t, seq), (int, b), (uint64_t, costly));
TRACECTL_PROBE_DECLARE(hot, wide, (uint64_t, seq), (int, b), (int, c), (int, d), (int, e), (int, f),
                       (int, g), (uint64_t, last));
__extension__ unsigned short hot_sdt_semaphore __attribute__((section(".probes")));

static uint64_t calls;

__attribute__((noinline)) static uint64_t costly(uint64_t seq) {
  uint64_t sum = seq;
  for (uint64_t i = 0; i < 4; ++i) sum = sum * 31 + i;
  return sum;
}

__attribute__((noipa)) void plain(uint64_t seq, int b) {
  (void)seq;
  calls += b == 2;
}

__attribute__((noipa)) void by_header(uint64_t seq, int b) {
  TRACECTL_PROBE(hot, header, seq, b, costly(seq));
  calls += b == 2;
}

__attribute__((noipa)) void by_wide(uint64_t seq, int b) {
  TRACECTL_PROBE(hot, wide, seq, b, 3, 4, 5, 6, 7, seq + 8);
  calls += b == 2;
}

__attribute__((noipa)) void by_sdt(uint64_t seq, int b) {
  if (__builtin_expect(hot_sdt_semaphore, 0)) DTRACE_PROBE3(hot, sdt, seq, b, costly(seq));
  calls += b == 2;
}

__attribute__((noipa)) void by_tag(uint64_t seq, int b) {
  (void)seq;
  tracectl_tag_put("tag");
  calls += b == 2;
}

static uint64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void (*function_named(const char* name))(uint64_t, int) {
  if (strcmp(name, "by_header") == 0) return by_header;
  if (strcmp(name, "by_wide") == 0) return by_wide;
  if (strcmp(name, "by_tag") == 0) return by_tag;
  return strcmp(name, "by_sdt") == 0 ? by_sdt : plain;
}

static uint64_t call(const char* name, uint64_t times) {
  void (*const function)(uint64_t, int) = function_named(name);
  calls = 0;
  const uint64_t start = now_ns();
  for (uint64_t i = 0; i < times; ++i) function(i, 2);
  return now_ns() - start;
}

int main(int argc, char** argv) {
  if (argc == 3) {
    call(argv[1], strtoull(argv[2], NULL, 10));
    return 0;
  }
  printf("ready %d\n", (int)getpid());
  fflush(stdout);
  char name[64];
  unsigned long long times;
  while (scanf("%63s %llu", name, &times) == 2) {
    const uint64_t took = call(name, times);
    printf("done\n{\"calls\":%llu,\"ns\":%llu}\n", (unsigned long long)calls,
           (unsigned long long)took);
    fflush(stdout);
  }
}
