// SPDX-License-Identifier: BSD-2-Clause
//
// Functions that are inlined, and count how often they are called and with what (inlined.c, inlined_cxx.cpp).
#pragma once

#define KEPT __attribute__((noinline))
#define INLINED static inline __attribute__((always_inline))

enum { ADD, TWICE, LOOPED, RARE, GIVEN, BOTH_WAYS, FUNCTIONS };

// Volatile, so that each call is one.
extern volatile long calls[FUNCTIONS];
extern volatile long sums[FUNCTIONS];  // of the first parameter
extern volatile long sink;

#define COUNTED(function, n) (calls[function]++, sums[function] += (n))

// Expect: a copy at each call, of which two are in each copy of twice().
INLINED long add(long n) {
  COUNTED(ADD, n);
  return n + sink;
}

// Expect: a copy of add() in it begins elsewhere.
INLINED long twice(long n) {
  COUNTED(TWICE, n);
  return add(n) * 3 + add(n + 1);
}

// Expect: refused where its loop leads back to the instruction with which it begins.
INLINED long looped(long n) {
  do {
    COUNTED(LOOPED, n);
    n -= 2;
  } while (n > 0);
  return n;
}

// Expect: in the cold part of its host.
INLINED long rare(long n) {
  COUNTED(RARE, n);
  return sink - n;
}

// Expect: the parameter is a constant where it was called with one.
INLINED long given(long n, int more) {
  COUNTED(GIVEN, n);
  sink = n;
  return more + n;
}

// Expect: no code where its result is not needed.
INLINED long removed(long n) { return n * 7; }
