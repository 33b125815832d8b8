// build: -O2 -g -fcf-protection=none -fno-omit-frame-pointer
// SPDX-License-Identifier: BSD-2-Clause
//
// entries CALLS     calls each of the functions with (0, 1), (1, 2), ... (CALLS - 1, CALLS)
//
// Functions that begin with an instruction that would have to be single-stepped. Prints the number of calls.
#include <stdint.h>

#include "stdin_protocol.h"

#define FUNCTION(NAME) ".globl " #NAME "\n.type " #NAME ", @function\n.balign 16\n" #NAME ":\n"
#define END(NAME) ".size " #NAME ", . - " #NAME "\n"

__asm__(
    ".text\n"
    // Expect: probed at the following push, 4 bytes further: normal.
    FUNCTION(entry_endbr) "endbr64\npush %rbp\nadd %rsi, entry_sum(%rip)\npop %rbp\nret\n"
    END(entry_endbr)
    // Expect: probed at the push, 9 bytes further: normal. The instructions before it change no argument.
    FUNCTION(entry_reads)
    "sub $8, %rsp\nmov %rdi, %rax\ncmp %esi, %edi\npush %rbp\nadd %rsi, entry_sum(%rip)\n"
    "pop %rbp\nadd $8, %rsp\nret\n" END(entry_reads)
    // Expect: slow, at the entry: each call executes the push three times.
    FUNCTION(entry_loop)
    "sub $8, %rsp\n1: push %rbp\npop %rbp\ninc %eax\ncmp $3, %eax\njne 1b\n"
    "add %rsi, entry_sum(%rip)\nadd $8, %rsp\nret\n" END(entry_loop)
    // Expect: slow, at the entry: the argument is overwritten before the push.
    FUNCTION(entry_writes)
    "sub $8, %rsp\nxor %edi, %edi\npush %rbp\nadd %rsi, entry_sum(%rip)\npop %rbp\nadd $8, %rsp\nret\n"
    END(entry_writes));

uint64_t entry_sum;
void entry_endbr(uint64_t n, uint64_t next);
void entry_reads(uint64_t n, uint64_t next);
void entry_writes(uint64_t n, uint64_t next);
void entry_loop(uint64_t n, uint64_t next);

// entry_loop counts its rounds in %eax, from 0.
static void loop(uint64_t n, uint64_t next) {
  uint64_t rounds = 0;
  __asm__ volatile("call entry_loop" : "+a"(rounds) : "D"(n), "S"(next) : "memory", "cc");
}

int main(int argc, char** argv) {
  const uint64_t calls = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000;
  ready_and_wait_for_go();
  for (uint64_t n = 0; n < calls; ++n) {
    entry_endbr(n, n + 1);
    entry_reads(n, n + 1);
    entry_writes(n, n + 1);
    loop(n, n + 1);
  }
  printf("done\n{\"calls\":%llu,\"sum\":%llu}\n", (unsigned long long)calls,
         (unsigned long long)entry_sum);
  wait_for_exit();
}
