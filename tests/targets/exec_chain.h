// SPDX-License-Identifier: BSD-2-Clause
//
// exec_first CALLS [PROGRAM]    exec_second CALLS [PROGRAM]
//
// main, NAMED(caller) and NAMED(leaf) call one another CALLS times. On the line `exit`, PROGRAM is executed
// as `PROGRAM CALLS`, if it was given.
//
// Two programs use this file, and differ only in the names of their functions; they are at fixed addresses.
// Expect: leaf and its callers have the same addresses in both.
#include <stdint.h>

#include "stdin_protocol.h"

static volatile uint64_t sum;

__attribute__((noipa)) void NAMED(leaf)(uint64_t n) { sum += n; }

__attribute__((noipa)) void NAMED(caller)(uint64_t n) {
  NAMED(leaf)(n);
  sum += 1;
}

int main(int argc, char** argv) {
  const uint64_t calls = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
  ready_and_wait_for_go();
  for (uint64_t n = 0; n < calls; ++n) NAMED(caller)(n);
  printf("done\n{\"leaf\":%llu}\n", (unsigned long long)(uintptr_t)&NAMED(leaf));
  wait_for_exit();
  if (argc > 2) execl(argv[2], argv[2], argv[1], NULL);
  return argc > 2;
}
