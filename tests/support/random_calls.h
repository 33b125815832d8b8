// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "daemon/model/event.h"
#include "tests/support/call_events.h"

namespace tracectl {

// The events of a program whose threads make random calls. No two calls have functions of the same name.
class RandomCalls {
 public:
  struct Open {
    CallMark call;
    std::string function;
    uint64_t began_ns;
  };
  struct Thread {
    uint32_t numbers = 0;
    std::vector<Open> open;
  };
  static constexpr pid_t kFirstTid = 100;

  RandomCalls(unsigned seed, bool with_coroutines)
      : random_(seed), with_coroutines_(with_coroutines) {}

  Event next() {
    now_ns_ += 1 + below(20'000);
    const size_t i = below(std::size(threads_));
    Event event = step(threads_[i]);
    event.tid = kFirstTid + static_cast<pid_t>(i);
    event.cpu = static_cast<unsigned>(below(4));
    return event;
  }
  // Ends everything, the innermost first.
  std::vector<Event> rest() {
    std::vector<Event> events;
    for (size_t i = 0; i < std::size(threads_); ++i)
      while (!threads_[i].open.empty())
        events.push_back(in_thread(kFirstTid + static_cast<pid_t>(i),
                                   end(threads_[i], threads_[i].open.size() - 1)));
    return events;
  }
  const Thread& thread(pid_t tid) const { return threads_[static_cast<size_t>(tid - kFirstTid)]; }
  size_t below(size_t limit) { return random_() % limit; }

 private:
  Event step(Thread& thread) {
    if (thread.open.empty() || (thread.open.size() < 6 && below(2))) return begin(thread);
    if (below(12) == 0) return note_of("prog:here", now_ns_);
    const size_t last = thread.open.size() - 1;
    return end(thread, with_coroutines_ && below(8) == 0 ? below(last + 1) : last);
  }
  Event begin(Thread& thread) {
    const auto depth = static_cast<uint32_t>(thread.open.size());
    const std::string function = "f" + std::to_string(++functions_);
    if (below(20) == 0) return begin_of(function, {0, depth}, now_ns_);
    thread.open.push_back({{++thread.numbers, depth}, function, now_ns_});
    return begin_of(function, thread.open.back().call, now_ns_);
  }
  Event end(Thread& thread, size_t index) {
    now_ns_ += 1;
    const Open call = thread.open[index];
    thread.open.erase(thread.open.begin() + static_cast<std::ptrdiff_t>(index));
    const CallMark mark{call.call.number, static_cast<uint32_t>(thread.open.size())};
    const auto how = below(10) == 0 ? unwound_of : end_of;
    return how(call.function, mark, now_ns_, now_ns_ - call.began_ns);
  }

  std::mt19937 random_;
  bool with_coroutines_;
  uint64_t now_ns_ = 0;
  unsigned functions_ = 0;
  Thread threads_[4];
};

}  // namespace tracectl
