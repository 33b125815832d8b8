// build: -O2 -g -fcf-protection=none
// SPDX-License-Identifier: BSD-2-Clause
//
// inlined_cxx [ROUNDS]
//
// Like inlined.c, with functions of classes and namespaces.
#include <cstdlib>

#include "stdin_protocol.h"

#define KEPT __attribute__((noinline))

namespace {

volatile long in_member, in_hidden, in_generic, sums_of_member;

}  // namespace

volatile long sink;

namespace shapes {

class Counter {
 public:
  explicit Counter(long start) : value_(start) {}

  __attribute__((always_inline)) inline long step(long by) {
    in_member = in_member + 1;
    sums_of_member = sums_of_member + by;
    value_ += by;
    return value_;
  }

 private:
  long value_;
};

// Expect: named with its namespace, though it has no symbol.
static inline __attribute__((always_inline)) long hidden(long n) {
  in_hidden = in_hidden + 1;
  return n + sink;
}

template <class T> inline __attribute__((always_inline)) T generic(T n) {
  in_generic = in_generic + 1;
  return n + static_cast<T>(sink);
}

KEPT long host(Counter& counter, long n) {
  long sum = counter.step(n);
  if (n % 3 == 0) sum += hidden(n) + generic(static_cast<int>(n));
  return sum + hidden(sum) + generic(n);
}

}  // namespace shapes

int main(int argc, char** argv) {
  ready_and_wait_for_go();
  const long rounds = argc > 1 ? std::atol(argv[1]) : 100;
  shapes::Counter counter(rounds);
  for (long n = 0; n < rounds; ++n) sink = sink + shapes::host(counter, n);
  printf("done\n");
  printf("{\"step\":[%ld,%ld],\"hidden\":[%ld,0],\"generic\":[%ld,0]}\n", in_member, sums_of_member,
         in_hidden, in_generic);
  wait_for_exit();
}
