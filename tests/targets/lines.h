// SPDX-License-Identifier: BSD-2-Clause
//
// Lines that count how often they are executed, for two units of one program (lines.c, lines_unit.h).
#pragma once

enum { IN_MAIN, IN_HEADER, IN_UNIT, SOURCES, MOST_LINES = 200 };

// By source file and line. Volatile, so that each execution is one.
extern volatile long counts[SOURCES][MOST_LINES];

#ifdef __clang__
#define KEPT __attribute__((noinline, used))
#else
#define KEPT __attribute__((noipa, used))
#endif

#define COUNTED(source, does) (counts[source][__LINE__]++, (does))

// In code of both units. At -O2 there is a copy of it at each call.
static inline long square(long n) {
  long product = n;
  COUNTED(IN_HEADER, product *= n);
  if (n % 3 == 0) {
    COUNTED(IN_HEADER, product += 3);
  }
  return product;
}

long other_unit(long n);
