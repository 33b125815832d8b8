// build: -O2 -g -fcf-protection=none -fno-optimize-sibling-calls
// SPDX-License-Identifier: BSD-2-Clause
//
// Functions that take known times, three levels of them: in each of ROUNDS (the first argument), burns_outer takes 300 us
// by itself, calls burns_middle 3 times, and burns_stepped. burns_middle takes 10 us and calls burns_inner 3 times; that
// takes 1 us, and burns_stepped 50 us. All times are multiplied by the second argument, if it is there. Prints the
// median and the sum of the times that each was seen to take by itself, in ns, and the cost of a look at the clock,
// which is not included in them.
//
// Expect: burns_stepped begins with an instruction that the kernel single-steps (`slow`), the others with a 1-byte nop
// (`normal`).
#include <stdint.h>
#include <time.h>

#include "stdin_protocol.h"

#define NOP_FIRST __attribute__((noipa, patchable_function_entry(1)))

enum { INNER, MIDDLE, OUTER, STEPPED, FUNCTIONS };
static uint64_t wanted[FUNCTIONS] = {1000, 10000, 300000, 50000};

static uint64_t* taken[FUNCTIONS];
static size_t count[FUNCTIONS];

static inline __attribute__((always_inline)) uint64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static inline __attribute__((always_inline)) void burn(int function) {
  const uint64_t start = now_ns();
  uint64_t now;
  do now = now_ns();
  while (now - start < wanted[function]);
  taken[function][count[function]++] = now - start;
}

NOP_FIRST void burns_inner(void) { burn(INNER); }

NOP_FIRST void burns_middle(void) {
  burn(MIDDLE);
  for (int i = 0; i < 3; ++i) burns_inner();
}

// In assembler: the probe is not moved past an instruction that changes a register of an argument.
__attribute__((used)) void stepped_body(void) { burn(STEPPED); }

void burns_stepped(void);
#ifdef __x86_64__
__asm__(
    ".pushsection .text\n"
    ".globl burns_stepped\n.type burns_stepped, @function\n"
    "burns_stepped: .cfi_startproc\n"
    " xor %edi, %edi\n sub $8, %rsp\n .cfi_adjust_cfa_offset 8\n"
    " call stepped_body\n"
    " add $8, %rsp\n .cfi_adjust_cfa_offset -8\n"
    " ret\n"
    ".cfi_endproc\n.size burns_stepped, . - burns_stepped\n"
    ".popsection\n");
#else
__asm__(
    ".pushsection .text\n"
    ".globl burns_stepped\n.type burns_stepped, %function\n"
    "burns_stepped: .cfi_startproc\n"
    " mov x0, #0\n stp x29, x30, [sp, -16]!\n .cfi_adjust_cfa_offset 16\n .cfi_offset 30, -8\n "
    ".cfi_offset 29, -16\n"
    " bl stepped_body\n"
    " ldp x29, x30, [sp], 16\n .cfi_restore 30\n .cfi_restore 29\n .cfi_adjust_cfa_offset -16\n"
    " ret\n"
    ".cfi_endproc\n.size burns_stepped, . - burns_stepped\n"
    ".popsection\n");
#endif

NOP_FIRST void burns_outer(void) {
  burn(OUTER);
  burns_stepped();
  for (int i = 0; i < 3; ++i) burns_middle();
}

static int compare(const void* a, const void* b) {
  const uint64_t left = *(const uint64_t*)a, right = *(const uint64_t*)b;
  return (left > right) - (left < right);
}

static uint64_t median(int function) {
  qsort(taken[function], count[function], sizeof(uint64_t), compare);
  return taken[function][count[function] / 2];
}

static uint64_t sum(int function) {
  uint64_t sum = 0;
  for (size_t i = 0; i < count[function]; ++i) sum += taken[function][i];
  return sum;
}

static uint64_t cost_of_clock(void) {
  enum { LOOKS = 10000 };
  const uint64_t start = now_ns();
  for (int i = 1; i < LOOKS; ++i) now_ns();
  return (now_ns() - start) / LOOKS;
}

int main(int argc, char** argv) {
  const size_t rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 100;
  const uint64_t scale = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
  for (int i = 0; i < FUNCTIONS; ++i) {
    wanted[i] *= scale;
    taken[i] = calloc(9 * rounds, sizeof(uint64_t));
  }
  ready_and_wait_for_go();
  for (size_t i = 0; i < rounds; ++i) burns_outer();
  static const char* const names[FUNCTIONS] = {"inner", "middle", "outer", "stepped"};
  printf("done\n{\"clock\":%llu", (unsigned long long)cost_of_clock());
  for (int i = 0; i < FUNCTIONS; ++i)
    printf(",\"%s\":{\"median\":%llu,\"sum\":%llu}", names[i], (unsigned long long)median(i),
           (unsigned long long)sum(i));
  puts("}");
  wait_for_exit();
  return 0;
}
