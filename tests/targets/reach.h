// SPDX-License-Identifier: BSD-2-Clause
//
// Functions that call one another in every possible way. Not run; their files are read. The comment on each
// has its least distance in calls from start(), and whether it is reached only by its address. Some have a
// part elsewhere, `.cold`, if gcc makes one.
#pragma once

#include <stdio.h>
#include <stdlib.h>

#define KEPT __attribute__((noipa))

typedef void (*action)(void);

// A separate root: its callers must not be reached from start(). Expect, from alone(): leaf.
void alone(void);
void start(int n);
// Expect: 1. Exported: a library calls it through the linker's stub.
void exported(void);
// Expect: 1, by address. Exported: a library has its address in the linker's table.
void exported_address(void);
void row_one(void);
void sets_hook(action what);
void way(void);

volatile int reach_sum;

// Expect: 1. Its address is in a table that start() uses; called at 2.
KEPT static void leaf(void) { ++reach_sum; }
static action const kLeaves[] = {leaf, leaf};

KEPT void alone(void) { leaf(); }

KEPT void exported(void) { leaf(); }
KEPT void exported_address(void) { ++reach_sum; }

// Expect: 2, by a jump.
KEPT static void tail(int n) { reach_sum += n; }

// Expect: 1.
KEPT static void direct(int n) {
  leaf();
  tail(n + 1);
}

// Expect: 1 and 2. They call each other.
KEPT static void pong(int n);
KEPT static void ping(int n) {
  if (n > 0) pong(n - 1);
  ++reach_sum;
}
KEPT static void pong(int n) {
  ping(n - 1);
  ++reach_sum;
}

// Expect: 1, by address.
KEPT static void by_lea(void) { ++reach_sum; }

// Expect: 1. Makes an indirect call.
KEPT static void call(action what) {
  what();
  ++reach_sum;
}

// Expect: 2, by address: in a row of a table that rows() uses. One is exported.
KEPT static void row_zero(void) { ++reach_sum; }
KEPT void row_one(void) { reach_sum += 2; }
static action const kRows[] = {row_zero, row_one};

// Expect: 1. Makes an indirect call.
KEPT static void rows(int n) {
  kRows[n & 1]();
  ++reach_sum;
}

// Expect: 2, by address: in a structure, to which another points.
KEPT static void op_open(void) { ++reach_sum; }
KEPT static void op_close(void) { reach_sum += 2; }
struct ops {
  const char* name;
  action open, close;
};
struct device {
  int number;
  const struct ops* ops;
};
static const struct ops kOps = {"ops", op_open, op_close};
static struct device devices_made[] = {{0, NULL}, {1, &kOps}};

// Expect: 2. Makes indirect calls.
KEPT static void use(const struct device* which) {
  which->ops->open();
  which->ops->close();
  ++reach_sum;
}

// Expect: 1.
KEPT static void devices(void) {
  use(&devices_made[1]);
  ++reach_sum;
}

// Expect: 2, by address: the initial value of a variable. Nothing else is known about it.
KEPT static void first_hook(void) { ++reach_sum; }
static action hook = first_hook;
void sets_hook(action what) { hook = what; }

// Expect: 1. Makes an indirect call.
KEPT static void hooked(void) {
  hook();
  ++reach_sum;
}

// Expect: 2, for both: called in the cold part of unlikely().
KEPT static void only_in_part(int n) { reach_sum += n; }
__attribute__((cold, noinline)) static void complain(int n) { reach_sum -= n; }

// Expect: 1. Calls abort, of another file, in its cold part.
KEPT static int unlikely(int n) {
  if (n < 0) {
    complain(n);
    only_in_part(n);
    abort();
  }
  return n + reach_sum;
}

// Expect: never. No reached function uses the table they are in.
KEPT static void unused_zero(void) { ++reach_sum; }
__attribute__((used)) static action const kUnusedRows[] = {unused_zero};
__attribute__((used)) KEPT static void unused(void) { unused_zero(); }

// Expect: 1. Calls puts, of another file.
KEPT static void says(void) {
  puts("reach");
  ++reach_sum;
}

// Expect: 2, by address: way(), at 1, is one of them, chosen by the loader.
KEPT static void long_way(void) { ++reach_sum; }
KEPT static void short_way(void) { reach_sum += 2; }
static action chosen_way(void) { return reach_sum ? long_way : short_way; }
void way(void) __attribute__((ifunc("chosen_way")));

// Expect: 0. Uses the address of `rand`, of another file.
KEPT void start(int n) {
  direct(n);
  exported();
  call(exported_address);
  ping(n);
  call(by_lea);
  rows(n);
  devices();
  hooked();
  unlikely(n);
  says();
  call(kLeaves[n & 1]);
  call((action)(void*)rand);
  way();
}
