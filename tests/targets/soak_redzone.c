// build: -O2 -g -fcf-protection=none
// SPDX-License-Identifier: BSD-2-Clause
//
// Leaves with live data below the stack pointer, and each kind of instruction in the middle: nops, jumps that
// the kernel emulates, and instructions that it single-steps.
#include "soak.h"

#define FUNCTION(NAME) ".globl " NAME "\n.type " NAME ", @function\n.balign 16\n" NAME ":\n"
#define END(NAME) ".size " NAME ", . - " NAME "\n"
#define NOP5 ".byte 0x0f, 0x1f, 0x44, 0x00, 0x00\n"
#define FILL                                        \
  "mov %rdi, -8(%rsp)\n"                            \
  "lea 1(%rdi,%rdi,2), %rax\nmov %rax, -16(%rsp)\n" \
  "lea 5(%rdi,%rdi,4), %rax\nmov %rax, -128(%rsp)\n"
#define SUM "mov -8(%rsp), %rax\nadd -16(%rsp), %rax\nadd -128(%rsp), %rax\nret\n"

// clang-format off
__asm__(
    ".text\n"
    // Expect: +0 fast.
    FUNCTION("redzone_first_nop5") NOP5 FILL SUM END("redzone_first_nop5")
    // Expect: +21 refused: its conversion would overwrite -8(%rsp).
    FUNCTION("redzone_mid_nop5") FILL NOP5 SUM END("redzone_mid_nop5")
    // Expect: +21 normal.
    FUNCTION("redzone_mid_nop1") FILL "nop\n" SUM END("redzone_mid_nop1")
    // Expect: +21 normal.
    FUNCTION("redzone_mid_jmp") FILL "jmp 1f\nud2\n1:\n" SUM END("redzone_mid_jmp")
    // Expect: jumps taken and not taken, backward and forward: normal.
    FUNCTION("redzone_mid_jcc") FILL
    "mov $3, %ecx\n1: test $1, %dil\njz 2f\nincq -8(%rsp)\n2: dec %ecx\njnz 1b\n" SUM
    END("redzone_mid_jcc")
    // Expect: single-stepped; relative to %rip, whose operand the kernel rewrites.
    FUNCTION("redzone_mid_rip") FILL "add redzone_word(%rip), %rax\nmov %rax, -24(%rsp)\n"
    "mov -24(%rsp), %rdx\n" SUM END("redzone_mid_rip")
    ".pushsection .rodata\n.balign 8\nredzone_word: .quad 0x1234567\n.popsection\n");
// clang-format on

uint64_t redzone_first_nop5(uint64_t n);
uint64_t redzone_mid_nop5(uint64_t n);
uint64_t redzone_mid_nop1(uint64_t n);
uint64_t redzone_mid_jmp(uint64_t n);
uint64_t redzone_mid_jcc(uint64_t n);
uint64_t redzone_mid_rip(uint64_t n);

// Compiled code: eight words below the stack pointer, written and read in loops.
SOAK_FUNCTION uint64_t redzone_compiled(uint64_t n) {
  volatile uint64_t words[12];
  for (uint64_t i = 0; i < 12; ++i) words[i] = n * (i + 1);
  uint64_t sum = 0;
  for (uint64_t i = 0; i < 12; ++i) sum = mixed(sum, words[i]);
  return sum;
}

static uint64_t redzone_round(void) {
  uint64_t sum = 0;
  for (uint64_t n = 0; n < 60; ++n) {
    sum = mixed(sum, redzone_first_nop5(n));
    sum = mixed(sum, redzone_mid_nop5(n));
    sum = mixed(sum, redzone_mid_nop1(n));
    sum = mixed(sum, redzone_mid_jmp(n));
    sum = mixed(sum, redzone_mid_jcc(n));
    sum = mixed(sum, redzone_mid_rip(n));
    sum = mixed(sum, redzone_compiled(n));
  }
  return sum;
}

int main(void) { return soak_without_semaphores(redzone_round); }
