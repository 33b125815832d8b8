// build: -O2 -g -pthread -fcf-protection=none -fno-omit-frame-pointer
// SPDX-License-Identifier: BSD-2-Clause
//
// demo_worker [SECONDS [THREADS]]     default: 25 s, 4 threads; the line `finish` ends it earlier
//
// Sieves the numbers below one million, over and over, on several threads, in some 220 functions: a
// demo::strike<P> for each prime below 1,000, a demo::count_residue<R> for each of the 48 residues modulo 210
// of the primes above 7, and those that call them.
//
// Expect: `answer 78498`, the number of primes below one million, and 8169 twin pairs, whatever is switched
// on and off meanwhile; each round is checked, and `wrong` counts those that differ.
#include <sys/poll.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <thread>
#include <utility>
#include <vector>

#include "push_first.h"
#include "stdin_protocol.h"

#define KEPT __attribute__((noinline))

namespace demo {

constexpr uint32_t kLimit = 1'000'000;
constexpr uint32_t kSegment = 100'000;
constexpr uint32_t kSegments = kLimit / kSegment;
constexpr uint32_t kModulus = 210;
constexpr uint32_t kPrimes = 78'498;
constexpr uint32_t kTwins = 8'169;

constexpr bool is_prime(uint32_t n) {
  for (uint32_t d = 2; d * d <= n; ++d)
    if (n % d == 0) return false;
  return n >= 2;
}

// One stretch of numbers, and the first two of the next for twins across the border.
struct Segment {
  uint32_t first = 0;
  std::array<bool, kSegment + 2> composite;

  uint32_t end() const { return first + kSegment + 2; }
  bool has_prime(uint32_t n) const { return !composite[n - first]; }
};

KEPT void clear(Segment& segment, uint32_t first) {
  PUSH_FIRST;
  segment.first = first;
  segment.composite.fill(false);
  if (first == 0) segment.composite[0] = segment.composite[1] = true;
}

template <uint32_t P> KEPT void strike(Segment& segment) {
  PUSH_FIRST;
  uint32_t n = (segment.first + P - 1) / P * P;
  if (n < P * P) n = P * P;
  for (; n < segment.end(); n += P) segment.composite[n - segment.first] = true;
}

template <uint32_t R> KEPT uint32_t count_residue(const Segment& segment) {
  PUSH_FIRST;
  uint32_t count = 0;
  uint32_t n = segment.first / kModulus * kModulus + R;
  if (n < segment.first) n += kModulus;
  for (; n < segment.first + kSegment; n += kModulus) count += segment.has_prime(n);
  return count;
}

KEPT uint32_t count_small(const Segment& segment) {
  PUSH_FIRST;
  return segment.first == 0 ? 4 : 0;  // 2, 3, 5, 7 are not prime to 210
}

KEPT uint32_t count_twins(const Segment& segment) {
  PUSH_FIRST;
  uint32_t count = 0;
  for (uint32_t n = segment.first; n < segment.first + kSegment && n + 2 < kLimit; ++n)
    count += segment.has_prime(n) && segment.has_prime(n + 2);
  return count;
}

using Strike = void (*)(Segment&);
using Count = uint32_t (*)(const Segment&);

template <uint32_t... N> std::vector<Strike> strikes_of(std::integer_sequence<uint32_t, N...>) {
  std::vector<Strike> chosen;
  auto choose = [&]<uint32_t P>() {
    if constexpr (is_prime(P)) chosen.push_back(strike<P>);
  };
  (choose.template operator()<N>(), ...);
  return chosen;
}

template <uint32_t... N> std::vector<Count> counts_of(std::integer_sequence<uint32_t, N...>) {
  std::vector<Count> chosen;
  auto choose = [&]<uint32_t R>() {
    if constexpr (std::gcd(R, kModulus) == 1) chosen.push_back(count_residue<R>);
  };
  (choose.template operator()<N>(), ...);
  return chosen;
}

const std::vector<Strike> strikes = strikes_of(std::make_integer_sequence<uint32_t, 1000>());
const std::vector<Count> counts = counts_of(std::make_integer_sequence<uint32_t, kModulus>());

struct Tally {
  uint32_t primes = 0;
  uint32_t twins = 0;
};

KEPT void sieve(Segment& segment, uint32_t first) {
  clear(segment, first);
  for (Strike each : strikes) each(segment);
}

KEPT void tally_segment(const Segment& segment, Tally& tally) {
  tally.primes += count_small(segment);
  for (Count each : counts) tally.primes += each(segment);
  tally.twins += count_twins(segment);
}

KEPT Tally run_round() {
  Segment segment;
  Tally tally;
  for (uint32_t i = 0; i < kSegments; ++i) {
    sieve(segment, i * kSegment);
    tally_segment(segment, tally);
  }
  return tally;
}

std::atomic<bool> finished{false};
std::atomic<uint64_t> rounds{0}, wrong{0};
std::atomic<uint32_t> last_answer{0};

KEPT void check_round(const Tally& tally) {
  last_answer = tally.primes;
  ++rounds;
  if (tally.primes != kPrimes || tally.twins != kTwins) ++wrong;
}

KEPT void work() {
  do check_round(run_round());
  while (!finished);
}

// Waits until the time is up, or `finish` was read; the end of input does not end it.
KEPT void wait_for_finish(std::chrono::seconds longest) {
  const auto deadline = std::chrono::steady_clock::now() + longest;
  pollfd input{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0) return;
    if (poll(&input, 1, static_cast<int>(left.count())) <= 0) continue;
    char line[64];
    const ssize_t length = read(STDIN_FILENO, line, sizeof line - 1);
    if (length <= 0) {
      input.fd = -1;
      continue;
    }
    line[length] = 0;
    if (strstr(line, "finish")) return;
  }
}

}  // namespace demo

int main(int argc, char** argv) {
  const int seconds = argc > 1 ? atoi(argv[1]) : 25;
  const int threads = argc > 2 ? atoi(argv[2]) : 4;
  printf("ready %d\n", static_cast<int>(getpid()));
  fflush(stdout);
  {
    std::vector<std::jthread> running;
    for (int i = 0; i < threads; ++i) running.emplace_back(demo::work);
    demo::wait_for_finish(std::chrono::seconds(seconds));
    demo::finished = true;
  }
  printf("done\n{\"rounds\":%llu,\"wrong\":%llu,\"functions\":%zu}\nanswer %u\n",
         static_cast<unsigned long long>(demo::rounds),
         static_cast<unsigned long long>(demo::wrong), demo::strikes.size() + demo::counts.size(),
         demo::last_answer.load());
  return demo::wrong != 0;
}
