// build: -O2 -g
// SPDX-License-Identifier: BSD-2-Clause
//
// symbols
//
// Variables and functions that expressions name. step() is called for several handlers, and changes the variables. The
// JSON has what each call saw: the variables when it began and when it returned, and whether its handler is the named
// one.
#include <cstdint>
#include <string>

#include "stdin_protocol.h"

#define KEPT __attribute__((noipa, used))

int counter = 5;
uint64_t zeroed;
thread_local int of_thread = 3;

namespace shop {
int64_t stock[3] = {10, 20, 30};
KEPT int sell(int n) { return n - 1; }
}  // namespace shop

namespace {
// Two functions of one name.
KEPT int twice(int n) { return n; }
KEPT int twice(long n) { return n > 1; }

KEPT int keep(int n) { return n; }

using Handler = int (*)(int);
}  // namespace

extern "C" {
KEPT int chosen_now(int n) { return n + 2; }
static int (*choose())(int) { return chosen_now; }
int chosen(int) __attribute__((ifunc("choose")));

// Expect: arguments arg0 to arg1
KEPT int step(Handler handler, int n) {
  counter += 3;
  zeroed += 1ull << 40;
  shop::stock[1] += n;
  of_thread = n;
  asm volatile("" ::: "memory");
  return handler(n);
}

// Expect: twelve arguments, and no room for a symbol.
KEPT long twelve(long a, long b, long c, long d, long e, long f, long g, long h, long i, long j,
                 long k, long l) {
  return a + b + c + d + e + f + g + h + i + j + k + l;
}
}

int main() {
  ready_and_wait_for_go();
  std::string calls;
  int made = twice(1) + twice(2l) + chosen(1);
  for (int n = 0; n < 6; ++n) {
    const bool sells = n % 3 == 1;
    const int counted = counter;
    const auto zeroes = zeroed;
    const auto stock = shop::stock[1];
    made += step(sells ? shop::sell : keep, n);
    calls += std::string(n ? ", " : "") + "{\"counter\": " + std::to_string(counted) +
             ", \"zeroed\": " + std::to_string(zeroes) + ", \"stock\": " + std::to_string(stock) +
             ", \"sells\": " + std::to_string(sells) + ", \"after\": " + std::to_string(counter) +
             "}";
  }
  made += static_cast<int>(twelve(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, made));
  std::printf("done\n{\"calls\": [%s], \"made\": %d}\n", calls.c_str(), made);
  wait_for_exit();
}
