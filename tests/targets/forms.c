// build: -O2 -g
// SPDX-License-Identifier: BSD-2-Clause
//
// forms
//
// Has 2,400 probes, forms:p0000 to forms:p2399, each with a different constant as its argument, so that each
// has its own form of arguments. Fires none; waits for the end of its input.
#include <unistd.h>

asm(".altmacro\n"
    ".macro one_probe number\n"
    "990: nop\n"
    "  .pushsection .note.stapsdt, \"\", \"note\"\n"
    "  .balign 4\n"
    "  .4byte 992f - 991f, 994f - 993f, 3\n"
    "991: .asciz \"stapsdt\"\n"
    "992: .balign 4\n"
    "993: .8byte 990b, 0, 0\n"
    "  .asciz \"forms\"\n"
    "  .if \\number < 10\n    .ascii \"p000\"\n"
    "  .elseif \\number < 100\n    .ascii \"p00\"\n"
    "  .elseif \\number < 1000\n    .ascii \"p0\"\n"
    "  .else\n    .ascii \"p\"\n  .endif\n"
    "  .asciz \"\\number\"\n"
    "  .asciz \"8@$\\number\"\n"
    "994: .balign 4\n"
    "  .popsection\n"
    ".endm\n"
    ".pushsection .text\n"
    ".type all_probes, @function\n"
    "all_probes:\n"
    ".set next, 0\n"
    ".rept 2400\n"
    "  one_probe %next\n"
    "  .set next, next + 1\n"
    ".endr\n"
    "  ret\n"
    ".size all_probes, . - all_probes\n"
    ".popsection\n"
    ".noaltmacro\n");

int main(void) {
  char byte;
  while (read(0, &byte, 1) > 0) {}
  return 0;
}
