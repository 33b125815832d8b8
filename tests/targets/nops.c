// build: -O2 -g
// SPDX-License-Identifier: BSD-2-Clause
//
// nops CALLS FORKS
//
// Calls each of its functions CALLS times, then has FORKS children do the same, one after another. Each
// function begins with a different form of 5-byte nop, which a kernel may turn into a call; such a call must
// also work in a child.
//
// Expect: in the JSON, `died` is 0. Each function is called CALLS times in the parent; `fork` is a plain
// fork, so the children run with the parent's memory.
#include <stdint.h>
#include <sys/wait.h>

#include "stdin_protocol.h"

#define FUNCTION(NAME, BYTES)                                                            \
  __asm__(".text\n.globl " #NAME "\n.type " #NAME ", @function\n.balign 16\n" #NAME      \
          ": .byte " BYTES "\n xor %eax, %eax\n ret\n.size " #NAME ", . - " #NAME "\n"); \
  int NAME(void);

FUNCTION(nop5_usual, "0x0f, 0x1f, 0x44, 0x00, 0x00")
FUNCTION(nop5_displaced, "0x0f, 0x1f, 0x44, 0x08, 0x08")
FUNCTION(nop5_short, "0x66, 0x0f, 0x1f, 0x40, 0x00")
FUNCTION(nop5_prefixes, "0x66, 0x66, 0x66, 0x66, 0x90")
FUNCTION(nop5_rex, "0x48, 0x0f, 0x1f, 0x40, 0x00")

static int call_all(uint64_t calls) {
  int wrong = 0;
  for (uint64_t i = 0; i < calls; ++i)
    wrong |= nop5_usual() | nop5_displaced() | nop5_short() | nop5_prefixes() | nop5_rex();
  return wrong;
}

int main(int argc, char** argv) {
  const uint64_t calls = argc > 1 ? strtoull(argv[1], NULL, 10) : 10;
  const int forks = argc > 2 ? atoi(argv[2]) : 10;
  int died = 0;
  ready_and_wait_for_go();
  const int wrong = call_all(calls);
  for (int i = 0; i < forks; ++i) {
    const pid_t child = fork();
    if (child == 0) _exit(call_all(calls));
    int status = -1;
    if (waitpid(child, &status, 0) != child || status != 0) ++died;
  }
  printf("done\n{\"died\":%d,\"wrong\":%d}\n", died, wrong);
  wait_for_exit();
  return 0;
}
