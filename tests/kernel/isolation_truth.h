// SPDX-License-Identifier: BSD-2-Clause
//
// The expected events of the sessions of isolation_test.cpp.
#pragma once

#include <algorithm>
#include <array>
#include <condition_variable>
#include <map>
#include <mutex>

#include "tests/support/tracer.h"

namespace tracectl::on_kernel {

// The program under test has functions f0000 to f0999 and calls them in order; call n of a thread
// is of function n % kFunctions.
constexpr uint64_t kFunctions = 1000;
constexpr size_t kThreads = 2;

// ---- functions ----

// The last three digits of a function's name; `?` fits any.
using Digits = std::string;

inline std::string pattern_of(const Digits& digits) { return "uprobe::f0" + digits; }

inline bool fits(const Digits& digits, uint64_t function) {
  for (size_t i = 3; i-- > 0; function /= 10)
    if (digits[i] != '?' && static_cast<uint64_t>(digits[i] - '0') != function % 10) return false;
  return true;
}

inline uint64_t function_number(const std::string& probe) {
  return std::stoull(probe.substr(probe.size() - 4));
}

inline bool contains(const std::vector<Digits>& all, const Digits& one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

class FunctionSet {
 public:
  explicit FunctionSet(const std::vector<Digits>& chosen) {
    for (uint64_t f = 0; f < kFunctions; ++f)
      for (const Digits& digits : chosen) has_[f] |= fits(digits, f);
    uint64_t distance = kNever;  // in a circle, like the program's calls
    for (uint64_t f = 2 * kFunctions; f-- > 0;) {
      distance = has_[f % kFunctions] ? 0 : distance == kNever ? kNever : distance + 1;
      distance_[f % kFunctions] = distance;
    }
  }

  bool empty() const { return distance_[0] == kNever; }
  bool has_call(uint64_t call) const { return has_[call % kFunctions]; }
  // The first call of one of these, `call` or later.
  uint64_t first_from(uint64_t call) const {
    const uint64_t distance = distance_[call % kFunctions];
    return distance == kNever ? kNever : call + distance;
  }

 private:
  static constexpr uint64_t kNever = ~uint64_t{0};
  std::array<bool, kFunctions> has_{};
  std::array<uint64_t, kFunctions> distance_{};
};

// ---- expected events ----

// The functions that a session has set from an epoch on; in the order of its commits.
struct InForce {
  uint64_t epoch = 0;
  FunctionSet functions;
};

struct Seen {
  uint64_t epoch = 0;
  uint64_t call = 0;
};

class Events : public EventSink {
 public:
  explicit Events(std::string session) : session_(std::move(session)) {}

  void take(std::span<const StreamItem> items) override {
    const std::lock_guard lock(mutex_);
    for (const StreamItem& item : items)
      if (const auto* event = std::get_if<Event>(&item))
        add(*event);
      else
        lost_ += std::get<Lost>(item).count;
    more_.notify_all();
  }

  // Waits until every thread was heard under this epoch: the settings are in force there, and no
  // commit before it, of any session, has ended them.
  bool hears_all_threads_under(uint64_t epoch) {
    std::unique_lock lock(mutex_);
    return more_.wait_for(lock, std::chrono::minutes(1), [&] {
      size_t threads = 0;
      for (const auto& [tid, heard] : by_thread_) threads += heard.back().epoch >= epoch;
      return threads == kThreads;
    });
  }

  // Call these when take() is no longer called, or when all events were flushed.
  const std::map<pid_t, std::vector<Seen>>& by_thread() const { return by_thread_; }
  const std::map<uint64_t, uint64_t>& by_function() const { return by_function_; }
  uint64_t lost() const { return lost_; }
  uint64_t strangers() const { return strangers_; }

 private:
  void add(const Event& event) {
    const uint64_t call = event.args.at(0).value();
    const uint64_t function = function_number(event.source->probe);
    if (event.source->session != session_ || call % kFunctions != function) ++strangers_;
    by_thread_[event.tid].push_back({event.epoch, call});
    ++by_function_[function];
  }

  const std::string session_;
  std::mutex mutex_;
  std::condition_variable more_;
  std::map<pid_t, std::vector<Seen>> by_thread_;
  std::map<uint64_t, uint64_t> by_function_;
  uint64_t lost_ = 0;
  uint64_t strangers_ = 0;
};

// The commit in force under an epoch; history.end() before the first.
using History = std::vector<InForce>;
inline History::const_iterator in_force(const History& history, uint64_t epoch) {
  auto after = std::find_if(history.begin(), history.end(),
                            [&](const InForce& one) { return one.epoch > epoch; });
  return after == history.begin() ? history.end() : std::prev(after);
}

// The fault of an event, given the thread's event before it.
inline std::string fault(const History& history, const Seen* before, const Seen& now) {
  const auto here = in_force(history, now.epoch);
  if (here == history.end()) return "comes from before the session";
  if (!here->functions.has_call(now.call)) return "is of a function that was not set";
  if (!before) return "";
  if (now.call <= before->call || now.epoch < before->epoch) return "comes out of order";
  // Assumes that each commit in between takes effect as late as possible: at the first call it
  // would have recorded. If a call is then still missing, it is missing for every other choice,
  // too.
  uint64_t explained = before->call + 1;
  for (auto part = in_force(history, before->epoch); part != here; ++part)
    explained = std::min(part->functions.first_from(explained), now.call);
  const uint64_t missed = here->functions.first_from(explained);
  return missed < now.call ? "was heard before call " + std::to_string(missed) : "";
}

inline void expect_true(const History& history, const Events& events) {
  for (const auto& [tid, heard] : events.by_thread())
    for (size_t i = 0; i < heard.size(); ++i) {
      const auto wrong = fault(history, i ? &heard[i - 1] : nullptr, heard[i]);
      ASSERT_EQ(wrong, "") << "call " << heard[i].call << " of thread " << tid << " under epoch "
                           << heard[i].epoch << ", behind "
                           << (i ? std::to_string(heard[i - 1].call) + " under " +
                                       std::to_string(heard[i - 1].epoch)
                                 : "none");
    }
  EXPECT_EQ(events.lost(), 0u);
  EXPECT_EQ(events.strangers(), 0u);
}

}  // namespace tracectl::on_kernel
