// build: -O1 -g -no-pie
// SPDX-License-Identifier: BSD-2-Clause
//
// 100,000 functions, s1 ... s100000, or as many as SITES says. `sites STEP` calls every STEP-th of them once
// with its number, and ends. Without an argument it does so at each line `call STEP`. A function returns its
// argument.
#include "stdin_protocol.h"

#ifndef SITES
#define SITES 100000
#endif
#define TEXT_OF(number) #number
#define REPEAT(number) ".rept " TEXT_OF(number) "\n"

#if defined(__x86_64__)
#define FUNCTION "mov %rdi, %rax\n ret\n"
#else
#define FUNCTION "nop\n ret\n"
#endif

// clang-format off
asm(".altmacro\n"
    ".macro one_site number\n"
    ".globl s\\number\n"
    ".type s\\number, %function\n"
    "s\\number:\n"
    FUNCTION
    ".size s\\number, . - s\\number\n"
    ".endm\n"
    ".text\n"
    ".p2align 4\n"
    ".set site_number, 0\n"
    REPEAT(SITES)
    ".set site_number, site_number + 1\n"
    "one_site %site_number\n"
    ".endr\n"
    ".noaltmacro\n");
// clang-format on

enum { FUNCTIONS = SITES };
long s1(long), s2(long);  // all are as far from each other as these

static long call_every(long step) {
  long calls = 0;
  for (long n = step; n <= FUNCTIONS; n += step) {
    const char* function = (const char*)s1 + (n - 1) * ((const char*)s2 - (const char*)s1);
    calls += ((long (*)(long))function)(n) == n;
  }
  return calls;
}

int main(int argc, char** argv) {
  char line[256];
  if (argc > 1) return call_every(atol(argv[1])) == 0;
  printf("ready %d\n", (int)getpid());
  fflush(stdout);
  while (fgets(line, sizeof line, stdin)) {
    if (strncmp(line, "call ", 5) != 0) continue;
    printf("done\n{\"calls\": %ld}\n", call_every(atol(line + 5)));
    fflush(stdout);
  }
}
