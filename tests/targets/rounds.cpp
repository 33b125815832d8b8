// build: -O2 -g -pthread -fcf-protection=none
// SPDX-License-Identifier: BSD-2-Clause
//
// rounds THREADS ROUNDS
//
// Each thread handles ROUNDS requests, one after another: begin_round(N), then slow(N) or fast(N), chosen by
// a random generator of the thread, then some calls of step(SEQ). Before its first request it has already
// made some steps.
//
// Expect: every function begins with a 5-byte nop. step's arg0 counts the steps of its thread from 0.
#include <atomic>
#include <cinttypes>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "nop5_first.h"
#include "stdin_protocol.h"

static std::atomic<uint64_t> sink;

#define FUNCTION(name)                                      \
  extern "C" __attribute__((noipa)) void name(uint64_t n) { \
    NOP5_FIRST;                                             \
    sink.fetch_add(n, std::memory_order_relaxed);           \
  }

FUNCTION(begin_round)
FUNCTION(slow)
FUNCTION(fast)
FUNCTION(step)

static std::atomic<uint64_t> slows, fasts, steps_before, steps_slow, steps_fast;
static std::vector<std::unique_ptr<std::atomic<uint64_t>>> steps_by_round;

static void make_steps(uint64_t count, uint64_t& seq, std::atomic<uint64_t>& tally) {
  for (uint64_t i = 0; i < count; ++i) step(seq++);
  tally += count;
}

static void handle(unsigned thread, uint64_t rounds) {
  uint64_t state = thread * 0x9e3779b97f4a7c15 + 88172645463325252u, seq = 0;
  const auto next = [&] {
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
  };
  make_steps(next() % 8, seq, steps_before);
  for (uint64_t n = 0; n < rounds; ++n) {
    const bool is_slow = next() % 3 == 0;
    const uint64_t count = next() % 8;
    begin_round(n);
    is_slow ? slow(n) : fast(n);
    ++(is_slow ? slows : fasts);
    make_steps(count, seq, is_slow ? steps_slow : steps_fast);
    *steps_by_round[n] += count;
  }
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const unsigned threads = static_cast<unsigned>(atoi(argv[1]));
  const uint64_t rounds = strtoull(argv[2], nullptr, 10);
  for (uint64_t n = 0; n < rounds; ++n)
    steps_by_round.push_back(std::make_unique<std::atomic<uint64_t>>());
  ready_and_wait_for_go();
  std::vector<std::thread> all;
  for (unsigned t = 0; t < threads; ++t) all.emplace_back(handle, t, rounds);
  for (auto& thread : all) thread.join();
  printf("done\n{\"slow\":%" PRIu64 ",\"fast\":%" PRIu64 ",\"steps_before\":%" PRIu64
         ",\"steps_slow\":%" PRIu64 ",\"steps_fast\":%" PRIu64 ",\"steps_by_round\":[",
         slows.load(), fasts.load(), steps_before.load(), steps_slow.load(), steps_fast.load());
  for (uint64_t n = 0; n < rounds; ++n)
    printf("%s%" PRIu64, n ? "," : "", steps_by_round[n]->load());
  printf("]}\n");
  wait_for_exit();
}
