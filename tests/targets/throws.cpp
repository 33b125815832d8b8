// SPDX-License-Identifier: BSD-2-Clause
//
// throws TIMES
//
// Two threads throw TIMES times each through throws_outer, from throws_inner, and every fourth time return
// instead. Reports how many calls of each function returned and how many were left by an exception, as
// counted by the program.
//
// Expect: both functions are called 2 * TIMES times; a call is left by an exception if its number is not a
// multiple of 4.
#include <atomic>
#include <cstdint>
#include <thread>

#include "stdin_protocol.h"

namespace {

std::atomic<uint64_t> returned{0}, thrown{0}, sum{0};

}  // namespace

extern "C" {

__attribute__((noipa)) uint64_t throws_inner(uint64_t n) {
  if (n % 4) throw n;
  return n / 4;
}

__attribute__((noipa)) uint64_t throws_outer(uint64_t n) { return throws_inner(n) + 1; }

}  // extern "C"

namespace {

void work(uint64_t times) {
  for (uint64_t n = 0; n < times; ++n) {
    try {
      sum += throws_outer(n);
      ++returned;
    } catch (uint64_t what) {
      sum += what;
      ++thrown;
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  const uint64_t times = argc > 1 ? strtoull(argv[1], nullptr, 10) : 1;
  ready_and_wait_for_go();
  std::thread one(work, times), other(work, times);
  one.join();
  other.join();
  printf("done\n{\"returned\":%llu,\"thrown\":%llu,\"sum\":%llu}\n",
         static_cast<unsigned long long>(returned), static_cast<unsigned long long>(thrown),
         static_cast<unsigned long long>(sum));
  wait_for_exit();
  return 0;
}
