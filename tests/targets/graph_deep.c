// build: -O2 -g -fcf-protection=none -fno-optimize-sibling-calls -Wno-infinite-recursion
// SPDX-License-Identifier: BSD-2-Clause
//
// graph_deep DEPTH [ROUNDS [MANY]]
//
// Calls nested DEPTH deep and more, ROUNDS times each (default: once): deep(DEPTH) makes DEPTH + 1 calls of
// deep that all return. deep_land(DEPTH) calls deep_jump, and DEPTH + 1 calls of that are unwound at once by
// longjmp; then it calls deep(0). deep_often(MANY), once at the end, calls deep(0) MANY times (default:
// never).
#include <inttypes.h>
#include <setjmp.h>
#include <stdint.h>

#include "stdin_protocol.h"

#define TRACED __attribute__((noipa))

struct tally {
  uint64_t calls, returns, unwound;
};
static struct tally of_deep, of_land, of_jump;
static jmp_buf back;

TRACED uint64_t deep(int n) {
  ++of_deep.calls;
  const uint64_t sum = n ? deep(n - 1) * 31 + (uint64_t)n : 1;
  ++of_deep.returns;
  return sum;
}

TRACED uint64_t deep_jump(int n) {
  ++of_jump.calls;
  if (n == 0) longjmp(back, 1);
  const uint64_t sum = deep_jump(n - 1) + (uint64_t)n;
  ++of_jump.returns;
  return sum;
}

TRACED uint64_t deep_land(int n) {
  ++of_land.calls;
  if (setjmp(back) == 0)
    deep_jump(n);
  else
    of_jump.unwound += (uint64_t)n + 1;
  const uint64_t sum = deep(0);
  ++of_land.returns;
  return sum;
}

TRACED uint64_t deep_often(int n) {
  uint64_t sum = 0;
  for (int i = 0; i < n; ++i) sum = sum * 31 + deep(0);
  return sum;
}

static void print_tally(const char* name, const struct tally* of) {
  printf("\"%s\":{\"calls\":%" PRIu64 ",\"returns\":%" PRIu64 ",\"unwound\":%" PRIu64 "}", name,
         of->calls, of->returns, of->unwound);
}

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const int depth = atoi(argv[1]);
  uint64_t checksum = 0;
  ready_and_wait_for_go();
  for (int left = argc > 2 ? atoi(argv[2]) : 1; left; --left) {
    checksum = checksum * 1099511628211u + deep(depth);
    checksum = checksum * 1099511628211u + deep_land(depth);
  }
  if (argc > 3) checksum += deep_often(atoi(argv[3]));
  printf("done\n{\"checksum\":%" PRIu64 ",\"functions\":{", checksum);
  print_tally("deep", &of_deep);
  printf(",");
  print_tally("deep_jump", &of_jump);
  printf(",");
  print_tally("deep_land", &of_land);
  printf("}}\n");
  wait_for_exit();
}
