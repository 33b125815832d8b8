// build: -O1
// SPDX-License-Identifier: BSD-2-Clause
//
// 10,001 functions, part_0 ... part_10000, and one function with a hundred names: same, same_0 ... same_98. Calls
// the last part once and the many-named one seven times.
__asm__(
    ".macro part\n"
    ".globl part_\\@\n"
    ".type part_\\@, %function\n"
    "part_\\@:\n"
    "nop\n"
    "ret\n"
    ".size part_\\@, . - part_\\@\n"
    ".endm\n"
    ".rept 10001\n"
    "part\n"
    ".endr\n"
    ".purgem part\n"
    ".altmacro\n"
    ".macro name number\n"
    ".globl same_\\number\n"
    ".set same_\\number, same\n"
    ".endm\n"
    ".set number, 0\n"
    ".rept 99\n"
    "name %number\n"
    ".set number, number + 1\n"
    ".endr\n"
    ".noaltmacro\n"
    ".globl same\n"
    ".type same, %function\n"
    "same:\n"
    "nop\n"
    "ret\n"
    ".size same, . - same\n");

void part_10000(void);
void same_98(void);

int main(void) {
  part_10000();
  for (int i = 0; i < 7; i++) same_98();
  return 0;
}
