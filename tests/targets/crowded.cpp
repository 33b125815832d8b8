// build: -O2 -g -pthread -fcf-protection=none
// SPDX-License-Identifier: BSD-2-Clause
//
// crowded THREADS ROUNDS
//
// Fires a probe ROUNDS times with addresses of untouched pages, while THREADS others change the mappings
// without a pause, so that their lock is rarely free.
//
// Expect: crowded:fire arg0 to arg11 addresses where all is 0. `longest_ms`: the longest hit.
#include <sys/mman.h>
#include <sys/sdt.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "stdin_protocol.h"

constexpr size_t kPage = 4096, kArguments = 12;

static std::atomic<bool> ended;
static std::atomic<int> crowding;

static char* map(size_t bytes) {
  void* at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) exit(2);
  return static_cast<char*>(at);
}

static void crowd() {
  constexpr size_t kBytes = 2048 * kPage;
  ++crowding;
  while (!ended) {
    void* at = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (at == MAP_FAILED) exit(2);
    for (int i = 0; i < 100; ++i) mprotect(at, kBytes, i % 2 ? PROT_READ | PROT_WRITE : PROT_READ);
    munmap(at, kBytes);
  }
}

__attribute__((noipa)) static void fire(const char* at) {
  DTRACE_PROBE12(crowded, fire, at, at + kPage, at + 2 * kPage, at + 3 * kPage, at + 4 * kPage,
                 at + 5 * kPage, at + 6 * kPage, at + 7 * kPage, at + 8 * kPage, at + 9 * kPage,
                 at + 10 * kPage, at + 11 * kPage);
}

static uint64_t longest_ms(uint64_t rounds) {
  using std::chrono::steady_clock;
  steady_clock::duration longest{};
  char* const pages = map(kArguments * kPage);
  for (uint64_t round = 0; round < rounds; ++round) {
    madvise(pages, kArguments * kPage, MADV_DONTNEED);
    const auto began = steady_clock::now();
    fire(pages);
    longest = std::max(longest, steady_clock::now() - began);
  }
  return static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::milliseconds>(longest).count());
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  ready_and_wait_for_go();
  std::vector<std::thread> threads;
  for (int t = 0; t < atoi(argv[1]); ++t) threads.emplace_back(crowd);
  while (crowding < atoi(argv[1])) std::this_thread::yield();
  const uint64_t longest = longest_ms(strtoull(argv[2], nullptr, 10));
  ended = true;
  for (std::thread& thread : threads) thread.join();
  printf("done\n{\"longest_ms\":%lu}\n", longest);
  wait_for_exit();
}
