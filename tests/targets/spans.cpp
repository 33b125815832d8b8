// build: -O2 -g -pthread -fcf-protection=none
// SPDX-License-Identifier: BSD-2-Clause
//
// spans REQUESTS
//
// Two threads serve REQUESTS requests each: spans_serve(TRACEPARENT, NUMBER) calls spans_query(NUMBER, PART)
// NUMBER % 3 times, passes the probe spans:served(NUMBER), and takes a little time, under the tag "request
// NUMBER". Every other request has a W3C traceparent, the others have none.
//
// Expect: a line for each request in the JSON, with the clocks (CLOCK_REALTIME, ns) around and within the call
// of spans_serve.
#include <sys/syscall.h>
#include <tracectl/tag.h>
#include <tracectl/usdt.h>
#include <unistd.h>

#include <cinttypes>
#include <ctime>
#include <string>
#include <thread>
#include <vector>

#include "stdin_protocol.h"

TRACECTL_PROBE_DECLARE(spans, served, (uint64_t, number));

struct Request {
  uint64_t number;
  long tid;
  std::string traceparent;
  uint64_t before = 0, first = 0, last = 0, after = 0;
};

static thread_local Request* current;

static uint64_t now() {
  timespec ts;
  clock_gettime(CLOCK_REALTIME, &ts);
  return static_cast<uint64_t>(ts.tv_sec) * 1000000000 + static_cast<uint64_t>(ts.tv_nsec);
}

extern "C" {
__attribute__((noipa)) uint64_t spans_query(uint64_t number, uint64_t part) {
  return number + part;
}

__attribute__((noipa)) int spans_serve(const char*, uint64_t number) {
  current->first = now();
  uint64_t found = 0;
  for (uint64_t part = 0; part < number % 3; ++part) found += spans_query(number, part);
  TRACECTL_PROBE(spans, served, number);
  const timespec little{0, 100'000};
  nanosleep(&little, nullptr);
  current->last = now();
  return static_cast<int>(found);
}
}

static std::string traceparent_of(uint64_t number) {
  if (number % 2) return "none of W3C's";
  char text[64];
  snprintf(text, sizeof(text), "00-%032" PRIx64 "-%016" PRIx64 "-01", number + 1, number + 7);
  return text;
}

static void serve(std::vector<Request>& requests, uint64_t from, uint64_t count) {
  for (uint64_t n = from; n < from + count; ++n) {
    requests.push_back({n, syscall(SYS_gettid), traceparent_of(n)});
    current = &requests.back();
    const tracectl::Tag tag("request " + std::to_string(n));
    current->before = now();
    spans_serve(current->traceparent.c_str(), n);
    current->after = now();
  }
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const uint64_t count = strtoull(argv[1], nullptr, 10);
  ready_and_wait_for_go();
  std::vector<Request> requests[2];
  std::thread threads[2];
  for (uint64_t i = 0; i < 2; ++i)
    threads[i] = std::thread([&, i] { serve(requests[i], i * count, count); });
  for (auto& thread : threads) thread.join();
  printf("done\n[");
  const char* between = "";
  for (const auto& of_thread : requests)
    for (const Request& r : of_thread) {
      printf("%s{\"number\":%" PRIu64 ",\"tid\":%ld,\"traceparent\":\"%s\",\"before\":%" PRIu64
             ",\"first\":%" PRIu64 ",\"last\":%" PRIu64 ",\"after\":%" PRIu64 "}",
             between, r.number, r.tid, r.traceparent.c_str(), r.before, r.first, r.last, r.after);
      between = ",";
    }
  printf("]\n");
  wait_for_exit();
}
