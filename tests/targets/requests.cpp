// build: -O2 -g -pthread -fcf-protection=none
// SPDX-License-Identifier: BSD-2-Clause
//
// requests PAIRS ROUNDS
//
// In each pair of threads one begins requests and the other ends them, in any order of the pairs. Some never
// end, some end without having begun, some begin twice, and a few take long. By the clock just before and
// just after each probe the program knows bounds for the time of each.
//
// Expect: requests:begin and requests:end, arg0 s64 the request's number, which differs between pairs, arg1
// the address of its name, r and the number. request_begins(number) is called just after the begin,
// request_ends(number) just before the end.
#include <sys/sdt.h>
#include <sys/syscall.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <cinttypes>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "stdin_protocol.h"

struct Request {
  int64_t number = 0;
  uint64_t before_begin = 0, after_begin = 0;  // of the last beginning
  uint64_t before_end = 0, after_end = 0;
  long from_tid = 0, to_tid = 0;
  std::atomic<bool> begun{false};
};

struct Tally {
  uint64_t begun = 0, ended = 0, overwritten = 0, open = 0, unmatched = 0;
};

struct Pair {
  std::vector<Request> requests;
  std::atomic<size_t> passed{0};  // ended by the other thread
  Tally begins, ends;
};

constexpr size_t kAhead = 8;  // requests begun before the first of them ends

static uint64_t now() {
  timespec t;
  clock_gettime(CLOCK_BOOTTIME, &t);
  return uint64_t(t.tv_sec) * 1000000000 + uint64_t(t.tv_nsec);
}

static bool never_ends(size_t n) { return n % 11 == 3; }
static bool begins_twice(size_t n) { return n % 17 == 7; }
static bool ends_unbegun(size_t n) { return n % 13 == 5; }
static uint64_t long_ns(size_t n) { return n % 500 == 250 ? (1 + n / 500) * 10000000 : 0; }

extern "C" __attribute__((noipa)) int64_t request_begins(int64_t number) { return number; }
extern "C" __attribute__((noipa)) int64_t request_ends(int64_t number) { return number; }

__attribute__((noipa)) static void fire_begin(int64_t number, const char* name) {
  DTRACE_PROBE2(requests, begin, number, name);
  request_begins(number);
}

__attribute__((noipa)) static void fire_end(int64_t number, const char* name) {
  request_ends(number);
  DTRACE_PROBE2(requests, end, number, name);
}

static void begin(Pair& pair, Request& request) {
  const std::string name = "r" + std::to_string(request.number);
  request.before_begin = now();
  fire_begin(request.number, name.c_str());
  request.after_begin = now();
  ++pair.begins.begun;
}

static void begin_all(Pair& pair) {
  for (size_t n = 0; n < pair.requests.size(); ++n) {
    Request& request = pair.requests[n];
    while (n >= pair.passed.load(std::memory_order_acquire) + kAhead) std::this_thread::yield();
    request.from_tid = syscall(SYS_gettid);
    begin(pair, request);
    if (begins_twice(n)) begin(pair, request);
    pair.begins.overwritten += begins_twice(n);
    pair.begins.open += never_ends(n);
    request.begun.store(true, std::memory_order_release);
  }
}

static void end(Pair& pair, int64_t number) {
  const std::string name = "r" + std::to_string(number);
  fire_end(number, name.c_str());
  ++pair.ends.ended;
}

static void work(uint64_t ns) {
  const uint64_t until = now() + ns;
  while (now() < until) std::this_thread::yield();
}

static void end_all(Pair& pair) {
  for (size_t n = 0; n < pair.requests.size(); ++n) {
    Request& request = pair.requests[n];
    while (!request.begun.load(std::memory_order_acquire)) std::this_thread::yield();
    if (ends_unbegun(n)) end(pair, -1 - request.number), ++pair.ends.unmatched;
    pair.passed.store(n + 1, std::memory_order_release);
    if (never_ends(n)) continue;
    if (long_ns(n)) work(long_ns(n));
    request.to_tid = syscall(SYS_gettid);
    request.before_end = now();
    end(pair, request.number);
    request.after_end = now();
  }
}

// Bounds of its duration.
static uint64_t least(const Request& r) { return r.before_end - r.after_begin; }
static uint64_t most(const Request& r) { return r.after_end - r.before_begin; }

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  std::vector<Pair> pairs(static_cast<size_t>(atoi(argv[1])));
  const size_t rounds = strtoull(argv[2], nullptr, 10);
  for (size_t i = 0; i < pairs.size(); ++i) {
    pairs[i].requests = std::vector<Request>(rounds);
    for (size_t n = 0; n < rounds; ++n) pairs[i].requests[n].number = int64_t(i * rounds + n + 1);
  }
  ready_and_wait_for_go();
  std::vector<std::thread> threads;
  for (Pair& pair : pairs) {
    threads.emplace_back(begin_all, std::ref(pair));
    threads.emplace_back(end_all, std::ref(pair));
  }
  for (auto& thread : threads) thread.join();

  Tally all;
  uint64_t inner = 0, outer = 0;
  std::vector<const Request*> matched;
  for (const Pair& pair : pairs) {
    all.begun += pair.begins.begun;
    all.overwritten += pair.begins.overwritten;
    all.open += pair.begins.open;
    all.ended += pair.ends.ended;
    all.unmatched += pair.ends.unmatched;
    for (const Request& request : pair.requests)
      if (request.after_end) matched.push_back(&request);
  }
  for (const Request* request : matched) inner += least(*request), outer += most(*request);
  std::sort(matched.begin(), matched.end(), [](auto* a, auto* b) { return least(*a) > least(*b); });
  printf("done\n{\"begun\":%" PRIu64 ",\"ended\":%" PRIu64
         ",\"matched\":%zu,\"overwritten\":%" PRIu64 ",\"open\":%" PRIu64 ",\"unmatched\":%" PRIu64
         ",\"inner\":%" PRIu64 ",\"outer\":%" PRIu64 ",\"longest\":[",
         all.begun, all.ended, matched.size(), all.overwritten, all.open, all.unmatched, inner,
         outer);
  for (size_t i = 0; i < matched.size(); ++i) {
    const Request& r = *matched[i];
    printf("%s[%" PRId64 ",%" PRIu64 ",%" PRIu64 ",%ld,%ld]", i ? "," : "", r.number, least(r),
           most(r), r.from_tid, r.to_tid);
  }
  printf("]}\n");
  wait_for_exit();
}
