// build: -O1 -fPIC -fcf-protection=none
// SPDX-License-Identifier: BSD-2-Clause
//
// chosen [ROUNDS]
//
// Functions whose implementations are chosen when the program starts (IFUNC). Each is called ROUNDS times.
#include <stdlib.h>

#include "stdin_protocol.h"

#define IMPLEMENTATION(name) \
  static __attribute__((noipa, used)) void name(void) { asm volatile(""); }

IMPLEMENTATION(plain_one)
IMPLEMENTATION(fast_one)
IMPLEMENTATION(other_one)
IMPLEMENTATION(table_a)
IMPLEMENTATION(table_b)
IMPLEMENTATION(hidden_way)

typedef void (*Way)(void);

// Not constant, so that the compiler keeps all of them.
static volatile int which;

// Expect: armed at plain_one, fast_one and other_one; fast_one has the hits. resolve_by_code has one hit at most: the
// linker calls it.
static Way resolve_by_code(void) {
  if (which > 1) return other_one;
  return which ? plain_one : fast_one;
}
void by_code(void) __attribute__((ifunc("resolve_by_code")));

// Expect: armed at table_a and table_b; table_a has the hits.
static Way const table[] = {table_a, table_b};
static Way resolve_by_table(void) { return table[which & 1]; }
void by_table(void) __attribute__((ifunc("resolve_by_table")));

// Expect: refused, because the resolver computes the address.
static Way resolve_by_sum(void) {
  Way way;
  asm volatile("call 1f\n1: pop %0\n\tadd $(hidden_way - 1b), %0" : "=r"(way));
  return way;
}
void by_sum(void) __attribute__((ifunc("resolve_by_sum")));

int main(int argc, char** argv) {
  ready_and_wait_for_go();
  const int rounds = argc > 1 ? atoi(argv[1]) : 1;
  for (int i = 0; i < rounds; ++i) {
    by_code();
    by_table();
    by_sum();
  }
  printf("done\n{}\n");
  wait_for_exit();
  return 0;
}
