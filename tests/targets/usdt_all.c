// build: -O2 -g
// SPDX-License-Identifier: BSD-2-Clause
//
// usdt_all [ROUNDS]
//
// USDT probes of <sys/sdt.h> with arguments of each type and form. At the end it prints, for each probe, how
// often it was passed while the semaphore was set, and the arguments of the last time, as a tracer must show
// them (doubles: their 64 bits).
#define _SDT_HAS_SEMAPHORES 1
#include <inttypes.h>
#include <stdint.h>
#include <sys/sdt.h>

#include "stdin_protocol.h"

__extension__ unsigned short all_guarded_semaphore __attribute__((unused, section(".probes")));

// Probes without a semaphore: sys/sdt.h supports only all or none in a file.
#pragma push_macro("_SDT_SEMAPHORE")
#undef _SDT_SEMAPHORE
#define _SDT_SEMAPHORE(provider, name) _SDT_ASM_1(_SDT_ASM_ADDR 0)
#undef _SDT_NOTE_SEMAPHORE_USE
#define _SDT_NOTE_SEMAPHORE_USE(provider, name)

static uint64_t guarded_hits, inlined_hits;

// Expect: no arguments.
__attribute__((noipa)) static void none(void) { DTRACE_PROBE(all, none); }

// Expect: -1@ -2@ -4@ -8@, all negative.
__attribute__((noipa)) static void signed_ones(int8_t a, int16_t b, int32_t c, int64_t d) {
  DTRACE_PROBE4(all, signed, a, b, c, d);
}

// Expect: 1@ 2@ 4@ 8@, each with its highest bit set: 200, 60000, 4000000000, 2^64 - 5.
__attribute__((noipa)) static void unsigned_ones(uint8_t a, uint16_t b, uint32_t c, uint64_t d) {
  DTRACE_PROBE4(all, unsigned, a, b, c, d);
}

// Expect: $42, $-7 and a constant beyond 32 bits.
__attribute__((noipa)) static void constants(void) {
  DTRACE_PROBE3(all, constants, 42, -7, UINT64_C(0x123456789abcdef));
}

// Expect: pointers, the first to the string "hello, probe", the second null.
__attribute__((noipa)) static void pointers(const char* text, const void* null) {
  DTRACE_PROBE2(all, pointers, text, null);
}

// Expect: 8f@ with the bits of 2.5 and -8@ 3, in this order.
__attribute__((noipa)) static void floating(double value, int64_t behind) {
  DTRACE_PROBE2(all, floating, value, behind);
}

struct Record {
  int32_t id;
  uint64_t array[4];
};
static volatile uint32_t global_word = 77;

// Expect: operands in memory: relative to a register, indexed, and a global (relative to %rip).
__attribute__((noipa)) static void memory(struct Record* record, uint64_t index) {
  DTRACE_PROBE3(all, memory, record->id, record->array[index], global_word);
}

// Expect: twelve arguments, more than the six registers of a call hold: 1, 2, 3 ... 12.
__attribute__((noipa)) static void twelve(int32_t n) {
  DTRACE_PROBE12(all, twelve, n, n + 1, n + 2, n + 3, n + 4, n + 5, n + 6, n + 7, n + 8, n + 9,
                 n + 10, n + 11);
}

// Expect: two sites in one function, of which one is hit: the argument is 1 for odd, 0 for even.
__attribute__((noipa)) static void two_sites(uint64_t n) {
  if (n & 1)
    DTRACE_PROBE2(all, two_sites, 1, n);
  else
    DTRACE_PROBE2(all, two_sites, 0, n);
}

// Expect: one name, a site in each of the two functions it is inlined into.
__attribute__((always_inline)) static inline void inlined(uint32_t caller) {
  ++inlined_hits;
  DTRACE_PROBE1(all, inlined, caller);
}
__attribute__((noipa)) static void first_caller(void) { inlined(1); }
__attribute__((noipa)) static void second_caller(void) { inlined(2); }

// Expect: found both as dashed-name and as dashed__name.
__attribute__((noipa)) static void dashed(uint32_t n) { DTRACE_PROBE1(all, dashed__name, n); }

#pragma pop_macro("_SDT_SEMAPHORE")

// Expect: a semaphore; the site is reached only while the semaphore is not 0.
__attribute__((noipa)) static void guarded(uint64_t n) {
  if (__builtin_expect(*(volatile unsigned short*)&all_guarded_semaphore, 0)) {
    ++guarded_hits;
    DTRACE_PROBE1(all, guarded, n);
  }
}

int main(int argc, char** argv) {
  const uint64_t rounds = argc > 1 ? strtoull(argv[1], NULL, 10) : 10;
  static const char text[] = "hello, probe";
  struct Record record = {.id = -123456, .array = {10, 20, 30, 40}};
  const double value = 2.5;
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);

  ready_and_wait_for_go();
  for (uint64_t n = 0; n < rounds; ++n) {
    none();
    signed_ones(-1, -300, -70000, INT64_C(-5000000000));
    unsigned_ones(200, 60000, 4000000000u, UINT64_MAX - 4);
    constants();
    pointers(text, NULL);
    floating(value, 3);
    memory(&record, 2);
    twelve(1);
    two_sites(n);
    first_caller();
    second_caller();
    dashed((uint32_t)n);
    guarded(n);
  }

  const uint64_t last = rounds ? rounds - 1 : 0;
  printf("done\n{\"rounds\":%" PRIu64 ",\"semaphore\":%u,\"probes\":{", rounds,
         *(volatile unsigned short*)&all_guarded_semaphore);
  printf("\"none\":{\"hits\":%" PRIu64 ",\"args\":[]}", rounds);
  printf(",\"signed\":{\"hits\":%" PRIu64 ",\"args\":[-1,-300,-70000,-5000000000]}", rounds);
  printf(",\"unsigned\":{\"hits\":%" PRIu64 ",\"args\":[200,60000,4000000000,%" PRIu64 "]}", rounds,
         UINT64_MAX - 4);
  printf(",\"constants\":{\"hits\":%" PRIu64 ",\"args\":[42,-7,%" PRIu64 "]}", rounds,
         UINT64_C(0x123456789abcdef));
  printf(",\"pointers\":{\"hits\":%" PRIu64 ",\"args\":[%" PRIu64 ",0],\"text\":\"%s\"}", rounds,
         (uint64_t)(uintptr_t)text, text);
  printf(",\"floating\":{\"hits\":%" PRIu64 ",\"args\":[%" PRIu64 ",3]}", rounds, bits);
  printf(",\"memory\":{\"hits\":%" PRIu64 ",\"args\":[%" PRId32 ",%" PRIu64 ",%" PRIu32 "]}",
         rounds, record.id, record.array[2], global_word);
  printf(",\"twelve\":{\"hits\":%" PRIu64 ",\"args\":[1,2,3,4,5,6,7,8,9,10,11,12]}", rounds);
  printf(",\"two_sites\":{\"hits\":%" PRIu64 ",\"args\":[%" PRIu64 ",%" PRIu64 "],\"sites\":2}",
         rounds, last & 1, last);
  printf(",\"inlined\":{\"hits\":%" PRIu64 ",\"args\":[2],\"sites\":2}", inlined_hits);
  printf(",\"dashed__name\":{\"hits\":%" PRIu64 ",\"args\":[%" PRIu64 "]}", rounds, last);
  printf(",\"guarded\":{\"hits\":%" PRIu64 ",\"args\":[%" PRIu64 "]}", guarded_hits, last);
  printf("}}\n");
  wait_for_exit();
  printf("%u\n", *(volatile unsigned short*)&all_guarded_semaphore);
  return 0;
}
