// build: -O0 -g -fcf-protection=none -x c tests/targets/lines_unit.h
// SPDX-License-Identifier: BSD-2-Clause
//
// lines [ROUNDS]
//
// The JSON has how often each counted line was executed, by source file and line.
#include "tests/targets/lines.h"

#include <stdlib.h>

#include "stdin_protocol.h"

volatile long counts[SOURCES][MOST_LINES];

#define BOTH(f, n) (f(n) + f((n) + 1))

// Expect: one place of each counted line at -O0; at -O2 one in each function, whatever is inlined.
static KEPT long branches(long n) {
  long sum = 0;
  COUNTED(IN_MAIN, sum = n);  // FIRST
  if (n % 2)
    COUNTED(IN_MAIN, sum += square(n));
  else
    COUNTED(IN_MAIN, sum += BOTH(square, n));  // OF A MACRO
  if (0) {
    COUNTED(IN_MAIN, sum = 7);  // REMOVED
  }
  switch (n % 4) {
    case 0: COUNTED(IN_MAIN, sum++); break;
    case 1: COUNTED(IN_MAIN, sum--); break;
    default: COUNTED(IN_MAIN, sum += 2);
  }
  return sum;
}

// Expect: a copy in main at -O2, and one in itself only at -O0.
static inline long loops(long n) {
  long sum = 0;
  for (long i = 0; i < n; ++i) {
    COUNTED(IN_MAIN, sum += i);  // IN A LOOP
    if (i % 5 == 4) {
      COUNTED(IN_MAIN, sum += other_unit(i));
    }
  }
  return sum;
}

static void print_source(int source, const char* name, const char* separator) {
  printf("%s\"%s\":{", separator, name);
  const char* before = "";
  for (int line = 0; line < MOST_LINES; ++line) {
    if (!counts[source][line]) continue;
    printf("%s\"%d\":%ld", before, line, counts[source][line]);
    before = ",";
  }
  printf("}");
}

int main(int argc, char** argv) {
  ready_and_wait_for_go();
  const long rounds = argc > 1 ? atol(argv[1]) : 100;
  volatile long sum = 0;
  for (long i = 0; i < rounds; ++i) {
    sum += branches(i);
    sum += loops(i % 11);
  }
  (void)sum;
  printf("done\n");
  print_source(IN_MAIN, "lines.c", "{");
  print_source(IN_HEADER, "lines.h", ",");
  print_source(IN_UNIT, "lines_unit.h", ",");
  printf("}\n");
  wait_for_exit();
  return 0;
}
