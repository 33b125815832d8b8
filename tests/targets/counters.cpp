// build: -O2 -g -pthread -fcf-protection=none
// SPDX-License-Identifier: BSD-2-Clause
//
// counters THREADS ROUNDS [FUNCTIONS [PAUSE_US]]
//
// Threads call f0000 ... f1999 (the first FUNCTIONS of them) in that order, ROUNDS times; ROUNDS 0: until the
// line `stop`, to the end of the round. With PAUSE_US they sleep after each round. Each function counts
// its own calls, so recordings can be compared with exact numbers.
//
// Expect: every function begins with a 5-byte nop, so a probe there is `fast` and safe. arg0 is the number of
// the call within its thread, from 0, without gaps; arg1 is the thread, from 0. f0007 is called with arg0 =
// 7, 7 + FUNCTIONS, 7 + 2 * FUNCTIONS...
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <thread>
#include <vector>

#include "nop5_first.h"
#include "stdin_protocol.h"
#include "thousand.h"

constexpr int kFunctions = 2000;
constexpr unsigned kMaxThreads = 64;

struct Tally {
  uint64_t calls[kFunctions] = {};
  uint64_t checksum = 0;
};

static Tally tallies[kMaxThreads];

// clang-format off
#define DEFINE(n)                                                                       \
  extern "C" __attribute__((noipa)) void f##n(uint64_t seq, uint32_t thread) {          \
    NOP5_FIRST;                                                                         \
    Tally& tally = tallies[thread];                                                     \
    ++tally.calls[1##n - 10000];                                                        \
    tally.checksum = tally.checksum * 31 + (seq ^ 1##n);                                \
  }
#define NAME(n) f##n,

THOUSAND(DEFINE, 0)
THOUSAND(DEFINE, 1)

using Function = void (*)(uint64_t, uint32_t);
static const Function functions[kFunctions] = {THOUSAND(NAME, 0) THOUSAND(NAME, 1)};
// clang-format on

static std::atomic<bool> stopped{false};

static void call_all(uint32_t thread, uint64_t rounds, int count, useconds_t pause_us) {
  uint64_t seq = 0;
  for (uint64_t round = 0; rounds ? round < rounds : !stopped.load(std::memory_order_relaxed);
       ++round) {
    for (int i = 0; i < count; ++i) functions[i](seq++, thread);
    if (pause_us) usleep(pause_us);
  }
}

static void print_tallies(unsigned threads, int count) {
  uint64_t first_calls = 0, total = 0, checksum = 0;
  bool equal = true;
  std::vector<uint64_t> calls(static_cast<size_t>(count));
  for (unsigned t = 0; t < threads; ++t) checksum = checksum * 31 + tallies[t].checksum;
  for (int i = 0; i < count; ++i) {
    for (unsigned t = 0; t < threads; ++t) calls[static_cast<size_t>(i)] += tallies[t].calls[i];
    total += calls[static_cast<size_t>(i)];
  }
  first_calls = calls[0];
  for (uint64_t c : calls) equal = equal && c == first_calls;

  printf("done\n{\"calls_per_function\":%llu,\"equal\":%s,\"functions\":%d,\"threads\":%u",
         static_cast<unsigned long long>(first_calls), equal ? "true" : "false", count, threads);
  printf(",\"total\":%llu,\"checksum\":%llu,\"calls_per_thread\":[",
         static_cast<unsigned long long>(total), static_cast<unsigned long long>(checksum));
  for (unsigned t = 0; t < threads; ++t) {
    uint64_t of_thread = 0;
    for (int i = 0; i < count; ++i) of_thread += tallies[t].calls[i];
    printf("%s%llu", t ? "," : "", static_cast<unsigned long long>(of_thread));
  }
  printf("],\"counts\":[");
  for (int i = 0; i < count; ++i)
    printf("%s%llu", i ? "," : "", static_cast<unsigned long long>(calls[static_cast<size_t>(i)]));
  printf("]}\n");
}

int main(int argc, char** argv) {
  const unsigned threads = argc > 1 ? static_cast<unsigned>(atoi(argv[1])) : 1;
  const uint64_t rounds = argc > 2 ? strtoull(argv[2], nullptr, 10) : 1;
  const int count = argc > 3 ? atoi(argv[3]) : kFunctions;
  const auto pause_us = static_cast<useconds_t>(argc > 4 ? atoi(argv[4]) : 0);
  if (threads < 1 || threads > kMaxThreads || count < 1 || count > kFunctions) {
    fprintf(stderr, "usage: counters THREADS ROUNDS [FUNCTIONS [PAUSE_US]]\n");
    return 2;
  }
  ready_and_wait_for_go();
  {
    std::vector<std::jthread> running;
    for (unsigned t = 0; t < threads; ++t)
      running.emplace_back(call_all, t, rounds, count, pause_us);
    if (rounds == 0) {
      wait_for_line("stop");
      stopped = true;
    }
  }
  print_tallies(threads, count);
  wait_for_exit();
  return 0;
}
