// SPDX-License-Identifier: BSD-2-Clause
//
// Finds from the events of a graph which calls are open in each thread.
//
// A call begins with one event and ends with another, and either may be lost; a call of a coroutine may end
// while calls that began within it stay open on another stack. So an end is never paired with the latest
// beginning: both have the number of their call, and the number of calls that were open around it shows
// whether others began or ended unseen.
//
// A thread whose last ends were lost has open calls until its next event, which may never come. So if very
// many calls are open, or very many threads have open calls, those of the thread with the oldest last event
// are forgotten; if it has events again, their beginnings count as unseen.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <unordered_map>
#include <vector>

#include "daemon/model/event.h"

namespace tracectl {

// One change that an event makes to the calls of its thread. Calls of a thread are counted from the
// outermost, which is 0.
struct CallStep {
  enum class Kind : uint8_t {
    begun,  // the event is its beginning; it is now the innermost
    appeared,  // its beginning was not seen; its name is known at its end, if that is seen; now the innermost
    ended,  // the event is its end; calls within it go on, each one level further out
    lost,   // its end was not seen but is certain; calls within it go on likewise
    late,   // the event is the end of a call that was counted as lost
    cut,    // the event is the beginning of a call that is not followed
    noted,  // the event is not about a call
  };

  Kind kind;
  size_t index;  // of the call; if it is not open: how many calls are open around it

  bool operator==(const CallStep&) const = default;
};

class OpenCalls {
 public:
  static constexpr size_t kMostThreads = 1 << 14;  // with open calls
  static constexpr size_t kMostCalls = 1 << 20;    // open in all threads

  // The steps in order. The reference is valid until the next event.
  const std::vector<CallStep>& take(const Event& event);
  // The threads that the last event caused to be forgotten; its own is never among them.
  const std::vector<pid_t>& forgotten() const { return forgotten_; }

 private:
  // More than any thread can have open. The depth comes from untrusted input.
  static constexpr size_t kMostOpen = 1 << 14;
  static constexpr size_t kMostLost = 256;
  static constexpr uint32_t kUnseen = 0;  // the number of a call whose beginning was not seen

  using Order = std::list<pid_t>;

  struct Thread {
    Order::iterator place;
    pid_t pid = 0;
    uint32_t newest = 0;                 // the highest number seen
    std::vector<uint32_t> numbers = {};  // of the open calls, the outermost first
    std::vector<uint32_t> lost = {};     // the latest calls that were counted as ended
  };

  Thread& thread_of(pid_t tid);
  void forget(pid_t tid);
  void forget_quietest();

  void begin(Thread& thread, const CallMark& call);
  void end(Thread& thread, const CallMark& call);
  void end_open(Thread& thread, const CallMark& call);
  void end_late(Thread& thread, const CallMark& call);
  void step(CallStep::Kind kind, size_t index) { steps_.push_back({kind, index}); }
  void open(Thread& thread, CallStep::Kind kind, uint32_t number);
  void close(Thread& thread, CallStep::Kind kind, size_t index);
  void lose(Thread& thread, size_t index);
  void close_down_to(Thread& thread, size_t depth);
  void fit(Thread& thread, size_t depth);
  size_t place_of(Thread& thread, const CallMark& call);

  std::unordered_map<pid_t, Thread> threads_;  // those with open calls, by tid
  Order order_;                                // of those threads, that with the latest event last
  std::vector<pid_t> forgotten_;
  size_t calls_ = 0;  // open ones
  std::vector<CallStep> steps_;
};

}  // namespace tracectl
