// SPDX-License-Identifier: BSD-2-Clause
//
// Which calls are open in each thread, made of the events of a graph.
//
// A call begins with one event and ends with another, and either may be lost; a call of a coroutine
// may end while those that began within it stay open on another stack. So an end is never paired
// with the last beginning: the number that both have says which call they are about, and how many
// calls were open around it says whether others began or ended unseen.
//
// A thread whose last ends were lost is one with open calls for as long as nothing more is heard of
// it, which may be for ever. So of very many open calls, or threads with such, those of the thread that
// was quiet for the longest time are forgotten; if it is heard of again, they began unseen.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <unordered_map>
#include <vector>

#include "daemon/model/event.h"

namespace tracectl {

// One thing that an event tells of the calls of its thread. Calls of a thread are counted from the
// outermost, which is 0.
struct CallStep {
  enum class Kind : uint8_t {
    begun,     // the event is its beginning; it is now the innermost
    appeared,  // it began unseen: its name is known when it ends, if that is seen; now the innermost
    ended,     // the event is its end; calls behind it go on, each one place further out
    lost,      // it ended unseen, by what is known; those behind it go on likewise
    late,      // the event is the end of a call that was taken for lost
    cut,       // the event is the beginning of a call that is not followed
    noted,     // the event is none of a call
  };

  Kind kind;
  size_t index;  // of the call; where none is open for it: how many are open around it

  bool operator==(const CallStep&) const = default;
};

class OpenCalls {
 public:
  static constexpr size_t kMostThreads = 1 << 14;  // with open calls
  static constexpr size_t kMostCalls = 1 << 20;    // that are open in all of them

  // In the order in which the steps are to be made. They stay until the next event is taken.
  const std::vector<CallStep>& take(const Event& event);
  // The threads that were forgotten when the last event was taken; not its own.
  const std::vector<pid_t>& forgotten() const { return forgotten_; }

 private:
  // More than any thread can have open: what came from elsewhere names the depth.
  static constexpr size_t kMostOpen = 1 << 14;
  static constexpr size_t kMostLost = 256;
  static constexpr uint32_t kUnseen = 0;  // the number of a call that began unseen

  using Order = std::list<pid_t>;

  struct Thread {
    Order::iterator place;
    pid_t pid = 0;
    uint32_t newest = 0;                 // the highest number seen
    std::vector<uint32_t> numbers = {};  // of the calls that are open, the outermost first
    std::vector<uint32_t> lost = {};     // of those that were taken for ended, the last ones
  };

  Thread& heard_of(pid_t tid);
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
  Order order_;                                // of them, the one heard of last at the end
  std::vector<pid_t> forgotten_;
  size_t calls_ = 0;  // that are open
  std::vector<CallStep> steps_;
};

}  // namespace tracectl
