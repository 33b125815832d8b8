// build: -O2 -g -gdwarf-5 -fcf-protection=none
// SPDX-License-Identifier: BSD-2-Clause
//
// inlined [ROUNDS]
//
// The JSON has by function how often it was called, and the sum of its first parameter, wherever it was inlined.
#include "tests/targets/inlined.h"

#include <stdlib.h>

#include "stdin_protocol.h"

volatile long calls[FUNCTIONS];
volatile long sums[FUNCTIONS];
volatile long sink;
static long (*volatile pointer)(long);

// Expect: inlined in main(), and a function of its own.
static inline long both_ways(long n) {
  COUNTED(BOTH_WAYS, n);
  return n + 2;
}

static KEPT __attribute__((cold)) void complain(long n) { sink += n; }

KEPT long first_host(long n) {
  long sum = add(n);                             // ONCE
  for (long i = 0; i < 3; ++i) sum += add(sum);  // IN A LOOP
  removed(n);
  return sum;
}

KEPT long second_host(long n) {
  if (n % 4 == 1) return twice(n);  // SOMETIMES
  return looped(n) + twice(n + 1);
}

KEPT long third_host(long n) {
  if (__builtin_expect(n % 10 == 7, 0)) {
    complain(n);
    sink += rare(n);  // COLD
  }
  return given(n, 3) + given(42, 5);  // TWICE IN A LINE
}

static void print_function(const char* name, int function, const char* separator) {
  printf("%s\"%s\":[%ld,%ld]", separator, name, calls[function], sums[function]);
}

int main(int argc, char** argv) {
  ready_and_wait_for_go();
  const long rounds = argc > 1 ? atol(argv[1]) : 100;
  pointer = both_ways;
  for (long n = 0; n < rounds; ++n) {
    sink += first_host(n) + second_host(n) + third_host(n);
    sink += both_ways(n);  // IN MAIN
    sink += pointer(n);
  }
  printf("done\n");
  print_function("add", ADD, "{");
  print_function("twice", TWICE, ",");
  print_function("looped", LOOPED, ",");
  print_function("rare", RARE, ",");
  print_function("given", GIVEN, ",");
  print_function("both_ways", BOTH_WAYS, ",");
  printf("}\n");
  wait_for_exit();
  return 0;
}
