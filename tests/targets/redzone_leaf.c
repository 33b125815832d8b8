// build: -O2 -g
// SPDX-License-Identifier: BSD-2-Clause
//
// redzone_leaf [ROUNDS]     ROUNDS 0: until the line `stop`
//
// Various places of 5-byte nops. A kernel that turns a probe there into a call pushes a return address below
// the stack pointer, over the red zone of a leaf that keeps data there. The checksum shows whether that
// happened: `checksum` must equal `expected`, `wrong` must be 0.
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#include "stdin_protocol.h"

#define NOP5 ".byte 0x0f, 0x1f, 0x44, 0x00, 0x00\n"
// A USDT note of <sys/sdt.h> version 3 for the instruction at SITE: redzone:NAME(8@%rdi).
#define NOTE(SITE, NAME)                         \
  ".pushsection .note.stapsdt, \"\", \"note\"\n" \
  ".balign 4\n"                                  \
  ".4byte 992f - 991f, 994f - 993f, 3\n"         \
  "991: .asciz \"stapsdt\"\n"                    \
  "992: .balign 4\n"                             \
  "993: .8byte " SITE                            \
  ", _.stapsdt.base, 0\n"                        \
  ".asciz \"redzone\"\n.asciz \"" NAME           \
  "\"\n.asciz \"8@%rdi\"\n"                      \
  "994: .balign 4\n"                             \
  ".popsection\n"
#define FUNCTION(NAME) ".globl " NAME "\n.type " NAME ", @function\n.balign 16\n" NAME ":\n"
#define END(NAME) ".size " NAME ", . - " NAME "\n"
// Three words of live data below the stack pointer, where a pushed address would be written...
#define FILL_RED_ZONE                               \
  "mov %rdi, -8(%rsp)\n"                            \
  "lea 1(%rdi,%rdi,2), %rax\nmov %rax, -16(%rsp)\n" \
  "lea 5(%rdi,%rdi,4), %rax\nmov %rax, -24(%rsp)\n"
// ... and their sum.
#define SUM_RED_ZONE "mov -8(%rsp), %rax\nadd -16(%rsp), %rax\nadd -24(%rsp), %rax\n"

__asm__(
    ".pushsection .stapsdt.base, \"aG\", \"progbits\", .stapsdt.base, comdat\n"
    ".weak _.stapsdt.base\n.hidden _.stapsdt.base\n"
    "_.stapsdt.base: .space 1\n.size _.stapsdt.base, 1\n"
    ".popsection\n"
    ".text\n"
    // Expect: refused at leaf_mid_nop5_site, as uprobe and as usdt redzone:mid_nop5.
    FUNCTION("leaf_mid_nop5")
    FILL_RED_ZONE
    ".globl leaf_mid_nop5_site\n"
    "leaf_mid_nop5_site:\n" NOP5
    SUM_RED_ZONE "ret\n"
    END("leaf_mid_nop5") NOTE("leaf_mid_nop5_site", "mid_nop5")
    // Expect: armed at the 1-byte nop, as usdt redzone:mid_nop1, not at the following nop5.
    FUNCTION("leaf_mid_nop1")
    FILL_RED_ZONE
    ".globl leaf_mid_nop1_site\n"
    "leaf_mid_nop1_site: nop\n" NOP5
    SUM_RED_ZONE "ret\n"
    END("leaf_mid_nop1") NOTE("leaf_mid_nop1_site", "mid_nop1")
    // Expect: fast and safe: nothing is below the stack pointer at a function's entry.
    FUNCTION("leaf_first_nop5") NOP5
    FILL_RED_ZONE SUM_RED_ZONE "ret\n"
    END("leaf_first_nop5") NOTE("leaf_first_nop5", "first_nop5")
    // Expect: no harm at non_leaf_mid_nop5_site, because the frame is above the stack pointer; a tracer that
    // cannot prove it refuses.
    FUNCTION("non_leaf_mid_nop5")
    "push %rbx\n"
    "mov %rdi, %rbx\n"
    "call leaf_first_nop5\n"
    ".globl non_leaf_mid_nop5_site\n"
    "non_leaf_mid_nop5_site:\n" NOP5
    "add %rbx, %rax\n"
    "pop %rbx\n"
    "ret\n"
    END("non_leaf_mid_nop5") NOTE("non_leaf_mid_nop5_site", "non_leaf"));

uint64_t leaf_mid_nop5(uint64_t n);
uint64_t leaf_mid_nop1(uint64_t n);
uint64_t leaf_first_nop5(uint64_t n);
uint64_t non_leaf_mid_nop5(uint64_t n);

static atomic_bool stopped;

static void* wait_for_stop(void* unused) {
  wait_for_line("stop");
  stopped = true;
  return unused;
}

int main(int argc, char** argv) {
  const uint64_t rounds = argc > 1 ? strtoull(argv[1], NULL, 10) : 100000;
  uint64_t n = 0, checksum = 0, expected = 0, wrong = 0;
  pthread_t waiter;

  ready_and_wait_for_go();
  if (rounds == 0 && pthread_create(&waiter, NULL, wait_for_stop, NULL) != 0) return 1;
  for (; rounds ? n < rounds : !stopped; ++n) {
    const uint64_t sum = 9 * n + 6;
    const uint64_t got[] = {leaf_mid_nop5(n), leaf_mid_nop1(n), leaf_first_nop5(n),
                            non_leaf_mid_nop5(n) - n};
    for (int i = 0; i < 4; ++i) {
      checksum = checksum * 31 + got[i];
      expected = expected * 31 + sum;
      wrong += got[i] != sum;
    }
  }
  if (rounds == 0) pthread_join(waiter, NULL);
  printf("done\n{\"calls_per_function\":%" PRIu64 ",\"leaf_first_nop5_calls\":%" PRIu64
         ",\"checksum\":%" PRIu64 ",\"expected\":%" PRIu64 ",\"wrong\":%" PRIu64 "}\n",
         n, 2 * n, checksum, expected, wrong);
  wait_for_exit();
  return wrong != 0;
}
