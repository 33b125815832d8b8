// build: -O2 -g -pthread -fcf-protection=none
// SPDX-License-Identifier: BSD-2-Clause
//
// More threads than CPUs that live for a few calls: sites change while several threads run on them, start and
// end.
#include <atomic>
#include <thread>
#include <vector>

#include "soak.h"

static std::atomic<uint64_t> shared;
static thread_local uint64_t own;

SOAK_FUNCTION uint64_t threads_nop5(uint64_t n) {
  NOP5_FIRST;
  return n * 11;
}

SOAK_FUNCTION void threads_add(uint64_t n) { shared.fetch_add(n, std::memory_order_relaxed); }

SOAK_FUNCTION void threads_own(uint64_t n) { own = mixed(own, n); }

SOAK_FUNCTION uint64_t threads_leaf(uint64_t n) {
  volatile uint64_t words[5] = {n, n + 1, n + 2, n + 3, n + 4};
  return words[0] + words[1] + words[2] + words[3] + words[4];
}

SOAK_FUNCTION void threads_body(uint64_t thread) {
  for (uint64_t i = 0; i < 40; ++i) {
    threads_own(threads_nop5(thread + i));
    threads_own(threads_leaf(i));
    threads_add(i);
  }
  threads_add(own);
}

static uint64_t threads_round() {
  shared = 0;
  for (int wave = 0; wave < 2; ++wave) {
    std::vector<std::jthread> threads;
    for (uint64_t i = 0; i < 8; ++i) threads.emplace_back(threads_body, i);
  }
  return shared;
}

int main() { return soak_without_semaphores(threads_round); }
