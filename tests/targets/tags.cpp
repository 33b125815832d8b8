// build: -O2 -g -pthread -fcf-protection=none
// SPDX-License-Identifier: BSD-2-Clause
//
// tags CLIENTS WORKERS REQUESTS
//
// Each client makes REQUESTS requests, numbered from 0 over all clients, under the tag "request N": it calls
// receive(N), and puts the request into a queue together with its tag. Workers, started before, take requests
// from the queue under the tag that came with them: handle(N), then part(N) under a tag of its own, "part N
// of a request of many parts", which is cut to 31 bytes, then handle(N) again, and the probe tags:handled(N).
// Between two requests they call idle(0), without a tag.
//
// Expect: every function begins with a 5-byte nop and knows nothing of tags.
#include <tracectl/tag.h>

#include <atomic>
#include <cinttypes>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "nop5_first.h"
#include "stdin_protocol.h"

extern "C" {
__attribute__((noipa)) void receive(uint64_t) { NOP5_FIRST; }
__attribute__((noipa)) void handle(uint64_t) { NOP5_FIRST; }
__attribute__((noipa)) void part(uint64_t) { NOP5_FIRST; }
__attribute__((noipa)) void idle(uint64_t) { NOP5_FIRST; }
}

TRACECTL_PROBE_DECLARE(tags, handled, (uint64_t, request));

struct Request {
  uint64_t number;
  tracectl_tag tag;
};

static std::mutex mutex;
static std::condition_variable changed;
static std::deque<Request> queue;
static bool closed;
static std::atomic<uint64_t> numbers;

static void make_requests(uint64_t count) {
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t n = numbers++;
    const tracectl::Tag tag("request " + std::to_string(n));
    receive(n);
    const std::lock_guard lock(mutex);
    queue.push_back({n, tracectl::Tag::spread()});
    changed.notify_one();
  }
}

static void handle_request(const Request& request) {
  const uint64_t n = request.number;
  const tracectl::Tag tag(request.tag);
  handle(n);
  {
    const tracectl::Tag own("part " + std::to_string(n) + " of a request of many parts");
    part(n);
  }
  handle(n);
  TRACECTL_PROBE(tags, handled, n);
}

static void work() {
  std::unique_lock lock(mutex);
  for (;;) {
    changed.wait(lock, [] { return closed || !queue.empty(); });
    if (queue.empty()) return;
    const Request request = queue.front();
    queue.pop_front();
    lock.unlock();
    idle(0);
    handle_request(request);
    lock.lock();
  }
}

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  ready_and_wait_for_go();
  std::vector<std::thread> clients, workers;
  for (int i = 0; i < atoi(argv[2]); ++i) workers.emplace_back(work);
  for (int i = 0; i < atoi(argv[1]); ++i)
    clients.emplace_back(make_requests, strtoull(argv[3], nullptr, 10));
  for (auto& client : clients) client.join();
  {
    const std::lock_guard lock(mutex);
    closed = true;
    changed.notify_all();
  }
  for (auto& worker : workers) worker.join();
  printf("done\n{\"requests\":%" PRIu64 ",\"tag\":\"%s\"}\n", numbers.load(), tracectl::Tag::get());
  wait_for_exit();
}
