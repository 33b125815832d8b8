// build: -O0 -g
// SPDX-License-Identifier: BSD-2-Clause
//
// usdt_sizes
//
// Probes of <sys/sdt.h> whose first argument has a size that no probe reads as a number; the second one is a number
// behind it. The JSON has the values of the arguments by probe: null for the first.
#include <sys/sdt.h>

#include "stdin_protocol.h"

struct pair {
  long a, b;
};
struct large {
  long n[4];
};
struct three {
  char c[3];
};

static volatile long number = 5;

int main(void) {
  const struct pair pair = {number, 2};
  const struct large large = {{number, 2, 3, 4}};
  const struct three three = {{1, 2, 3}};
  const __int128 wide = number;
  const double real = (double)number / 2;
  ready_and_wait_for_go();
  // Expect: 16@, 32@, 3@, -16@ of memory
  DTRACE_PROBE2(sizes, pair, pair, number);
  DTRACE_PROBE2(sizes, large, large, number);
  DTRACE_PROBE2(sizes, three, three, number);
  DTRACE_PROBE2(sizes, wide, wide, number);
  // Expect: 8f@
  DTRACE_PROBE2(sizes, real, real, number);
  printf("done\n");
  printf("{\"pair\":[null,5],\"large\":[null,5],\"three\":[null,5],\"wide\":[null,5],");
  printf("\"real\":[2.5,5]}\n");
  wait_for_exit();
}
