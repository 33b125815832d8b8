// build: -O1 -fcf-protection=none
// SPDX-License-Identifier: BSD-2-Clause
//
// Functions with names as rustc writes them, in its legacy mangling and in v0.
#include "stdin_protocol.h"

#define NAMED(name, symbol)    \
  void name(void) asm(symbol); \
  __attribute__((noipa)) void name(void) { asm volatile(""); }

// Expect: demo::run, <demo::Pipe as core::fmt::Write>::fill and demo::main::{{closure}}, without hashes.
NAMED(run, "_ZN4demo3run17h05af221e174051e9E")
NAMED(fill, "_ZN47_$LT$demo..Pipe$u20$as$u20$core..fmt..Write$GT$4fill17h05af221e174051e9E")
NAMED(closure, "_ZN4demo4main28_$u7b$$u7b$closure$u7d$$u7d$17h15af221e174051e9E")
// Expect: mycrate::foo::bar
NAMED(bar, "_RNvNtCs1234_7mycrate3foo3bar")

int main(void) {
  ready_and_wait_for_go();
  run();
  for (int i = 0; i < 2; ++i) fill();
  for (int i = 0; i < 3; ++i) closure();
  for (int i = 0; i < 4; ++i) bar();
  printf("done\n{}\n");
  wait_for_exit();
  return 0;
}
