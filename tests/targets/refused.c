// build: -O1 -g -fcf-protection=none -fno-omit-frame-pointer
// SPDX-License-Identifier: BSD-2-Clause
//
// refused [ROUNDS]
//
// Functions, named for those of x86-64, whose first instruction is refused by the kernel's uprobes, among ten that it accepts: one bad
// site among many must be named, and the good ones must not be armed without the user's consent. Each is
// called ROUNDS times.
#include <inttypes.h>
#include <stdint.h>

#include "push_first.h"
#include "stdin_protocol.h"

#define FUNCTION(NAME) ".globl " NAME "\n.type " NAME ", %function\n.balign 16\n" NAME ":\n"
#define END(NAME) ".size " NAME ", . - " NAME "\n"

#ifdef __aarch64__
#define COUNT(INDEX)                                                             \
  "adrp x0, refused_calls\nadd x0, x0, :lo12:refused_calls\nldr x1, [x0, " INDEX \
  " * 8]\n"                                                                      \
  "add x1, x1, 1\nstr x1, [x0, " INDEX " * 8]\nret\n"

__asm__(".text\n"
        // Expect: refused, because this hint (dgh) is not one of those that the kernel knows.
        FUNCTION("refused_cs_nop") "hint 6\n" COUNT("0") END("refused_cs_nop")
        // Expect: refused, because of the exclusive access.
        FUNCTION("refused_lock") "ldxr x1, [sp]\nclrex\n" COUNT("1") END("refused_lock")
        // Expect: refused, a breakpoint of the program itself (never called).
        FUNCTION("refused_int3") "brk 0\nret\n" END("refused_int3"));
#else
__asm__(
    ".text\n"
    // Expect: refused, because of the segment prefix (2e, %cs) of this 9-byte nop.
    FUNCTION("refused_cs_nop")
    ".byte 0x2e, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00\n"
    "incq refused_calls(%rip)\nret\n" END("refused_cs_nop")
    // Expect: refused, because of the lock prefix.
    FUNCTION("refused_lock")
    "lock incq refused_calls+8(%rip)\nret\n" END("refused_lock")
    // Expect: refused, an int3 of the program itself (never called).
    FUNCTION("refused_int3")
    "int3\nret\n" END("refused_int3"));
#endif

uint64_t refused_calls[2];
void refused_cs_nop(void);
void refused_lock(void);
void refused_int3(void);

static uint64_t good_calls[10];

// Expect: accepted, `push %rbp` first: normal.
#define GOOD(letter, index)                         \
  __attribute__((noipa)) void good_##letter(void) { \
    PUSH_FIRST;                                     \
    ++good_calls[index];                            \
  }
GOOD(a, 0)
GOOD(b, 1)
GOOD(c, 2)
GOOD(d, 3)
GOOD(e, 4)
GOOD(f, 5)
GOOD(g, 6)
GOOD(h, 7)
GOOD(i, 8)
GOOD(j, 9)

int main(int argc, char** argv) {
  static void (*const functions[])(void) = {
      refused_cs_nop, refused_lock, good_a, good_b, good_c, good_d,
      good_e,         good_f,       good_g, good_h, good_i, good_j,
  };
  const uint64_t rounds = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000;
  if (argc > 2) refused_int3();  // keeps it in the program

  ready_and_wait_for_go();
  for (uint64_t n = 0; n < rounds; ++n)
    for (size_t i = 0; i < sizeof functions / sizeof *functions; ++i) functions[i]();

  printf("done\n{\"refused_cs_nop\":%" PRIu64 ",\"refused_lock\":%" PRIu64, refused_calls[0],
         refused_calls[1]);
  for (int i = 0; i < 10; ++i) printf(",\"good_%c\":%" PRIu64, 'a' + i, good_calls[i]);
  printf("}\n");
  wait_for_exit();
  return 0;
}
