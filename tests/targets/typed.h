// SPDX-License-Identifier: BSD-2-Clause
//
// typed [ROUNDS]
//
// Probes of <tracectl/usdt.h>, in C and in C++. At the end it prints, for each probe, how often its arguments
// were computed, which is how often it was hit, and the arguments of the last time as a tracer must show
// them.
#pragma once

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <tracectl/usdt.h>

#include "stdin_protocol.h"

enum color { RED, GREEN = 7 };

TRACECTL_PROBE_DECLARE(typed, none);
TRACECTL_PROBE_DECLARE(typed, signed_ones, (int8_t, a), (int16_t, b), (int32_t, c), (int64_t, d));
TRACECTL_PROBE_DECLARE(typed, unsigned_ones, (uint8_t, a), (uint16_t, b), (uint32_t, c),
                       (uint64_t, d));
TRACECTL_PROBE_DECLARE(typed, kinds, (bool, yes), (char, letter), (enum color, paint),
                       (void*, address));
TRACECTL_PROBE_DECLARE(typed, query__start, (const char*, query), (int, rows));
TRACECTL_PROBE_DECLARE(typed, twelve, (const char*, a), (int, b), (int, c), (int, d), (int, e),
                       (int, f), (int, g), (int, h), (int64_t, i), (int8_t, j), (uint16_t, k),
                       (const char*, l));
TRACECTL_PROBE_DECLARE(typed, two_places, (uint64_t, round));

// For probes without arguments, how often they were found enabled.
static uint64_t none_computed, signed_computed, unsigned_computed, kinds_computed, query_computed,
    twelve_computed, places_computed, inline_passed;

// An argument that counts the hits of its probe.
static inline int counted(uint64_t* counter, int value) {
  ++*counter;
  return value;
}

static const char kQuery[] = "SELECT \"x\"\tFROM t";

__attribute__((noinline)) static void pass_none(void) {
  if (TRACECTL_PROBE_ENABLED(typed, none)) ++none_computed;
  TRACECTL_PROBE(typed, none);
}

__attribute__((noinline)) static void pass_numbers(void) {
  TRACECTL_PROBE(typed, signed_ones, (int8_t)counted(&signed_computed, -1), -300, -70000,
                 INT64_C(-5000000000));
  TRACECTL_PROBE(typed, unsigned_ones, (uint8_t)counted(&unsigned_computed, 200), 60000,
                 4000000000u, UINT64_MAX - 4);
}

__attribute__((noinline)) static void pass_kinds(void* address) {
  TRACECTL_PROBE(typed, kinds, counted(&kinds_computed, 1) == 1, 'x', GREEN, address);
}

__attribute__((noinline)) static void pass_query(int rows) {
  TRACECTL_PROBE(typed, query__start, kQuery, counted(&query_computed, rows));
}

__attribute__((noinline)) static void pass_twelve(void) {
  TRACECTL_PROBE(typed, twelve, "first", counted(&twelve_computed, 2), 3, 4, 5, 6, 7, 8, -9, -10,
                 11, "twelfth");
}

// One site, whatever the number of places.
__attribute__((noinline)) static void pass_here(uint64_t round) {
  TRACECTL_PROBE(typed, two_places, (uint64_t)counted(&places_computed, 0) + round);
}
__attribute__((noinline)) static void pass_there(uint64_t round) {
  TRACECTL_PROBE(typed, two_places, (uint64_t)counted(&places_computed, 0) + round);
}

// In a leaf with its variables below the stack pointer: the nop has one byte.
__attribute__((noinline)) static uint64_t pass_inline(uint64_t round) {
  volatile uint64_t kept[4] = {round, round + 1, round + 2, round + 3};
  TRACECTL_PROBE_INLINE(typed, inlined, round, (short)-5, kQuery);
  return kept[0] + kept[1] + kept[2] + kept[3];
}

static uint64_t pass_all(uint64_t rounds, void* address) {
  uint64_t wrong = 0;
  for (uint64_t n = 0; n < rounds; ++n) {
    pass_none();
    pass_numbers();
    pass_kinds(address);
    pass_query((int)n);
    pass_twelve();
    pass_here(n);
    pass_there(n);
    wrong += pass_inline(n) != 4 * n + 6;
    ++inline_passed;
  }
  return wrong;
}

static void print_probe(const char* name, uint64_t hits, const char* args) {
  printf("\"%s\":{\"hits\":%" PRIu64 ",\"args\":[%s]},", name, hits, args);
}

static void print_all(uint64_t rounds, const void* address) {
  char args[256];
  const uint64_t last = rounds ? rounds - 1 : 0;
  print_probe("none", none_computed, "");
  print_probe("signed_ones", signed_computed, "-1,-300,-70000,-5000000000");
  snprintf(args, sizeof args, "200,60000,4000000000,%" PRIu64, UINT64_MAX - 4);
  print_probe("unsigned_ones", unsigned_computed, args);
  snprintf(args, sizeof args, "1,120,7,%" PRIu64, (uint64_t)(uintptr_t)address);
  print_probe("kinds", kinds_computed, args);
  snprintf(args, sizeof args, "\"SELECT \\\"x\\\"\\tFROM t\",%d", (int)last);
  print_probe("query__start", query_computed, args);
  print_probe("twelve", twelve_computed, "\"first\",2,3,4,5,6,7,8,-9,-10,11,\"twelfth\"");
  snprintf(args, sizeof args, "%" PRIu64, last);
  print_probe("two_places", places_computed, args);
  snprintf(args, sizeof args, "%" PRIu64 ",-5,%" PRIu64, last, (uint64_t)(uintptr_t)kQuery);
  print_probe("inlined", inline_passed, args);
}
