// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/model/expr.h"
#include "daemon/model/stack.h"

namespace tracectl {

// One aggregate in the kernel. It has a row for each probe and each combination of keys.
struct Aggregate {
  enum class Kind : uint8_t { count, sum, avg, min, max, hist, lhist, time };

  static constexpr size_t kMostKeys = 3;
  static constexpr uint64_t kMostBuckets = 1000;  // of lhist, without those below min and above max

  Kind kind = Kind::count;
  std::optional<Expr> value = {};  // for all but count and time
  int64_t min = 0;                 // lhist: the buckets are min, min + step, ... below max
  int64_t max = 0;
  int64_t step = 0;
  std::vector<Expr> by = {};

  bool operator==(const Aggregate&) const = default;
};

std::string_view name_of(Aggregate::Kind kind);
std::optional<Aggregate::Kind> aggregate_named(std::string_view name);

// The stack that an event carries.
struct StackCapture {
  unsigned most_frames = kDefaultFrames;  // 1 to kMostFrames
  std::optional<StackBy> by = {};         // none: chosen by the probed object

  bool operator==(const StackCapture&) const = default;
};

// Switches a session's events on or off.
struct Trigger {
  std::string session;
  bool speaks = true;

  bool operator==(const Trigger&) const = default;
};

// The actions of a hit.
struct Spec {
  static constexpr size_t kMostValues = 12;
  static constexpr size_t kMostAggregates = 8;
  static constexpr size_t kMostTagBytes = 15;
  static constexpr size_t kMostTriggers = 4;
  static constexpr uint32_t kMostGraphDepth = 10'000;

  std::optional<Expr> when = {};  // the condition of all actions
  bool event = false;             // stream a record of the hit
  std::vector<Expr> values = {};  // in the record; empty: all arguments
  bool returns = false;           // stream an event of the return, too
  bool split =
      false;  // show the parts of durations in which threads were running, runnable and blocked
  std::optional<StackCapture> stack = {};  // in the event
  std::vector<Aggregate> aggregates = {};  // no two alike
  std::optional<uint64_t> sample = {};     // take one hit of so many; at least 1
  std::optional<uint64_t> limit = {};      // take at most so many hits a second; at least 1
  bool deepest = false;                    // take only hits with a deeper stack than any before
  std::optional<std::string> tag = {};     // label for the thread's later events; empty: removes it
  std::optional<bool> silent = {};     // suppresses the thread's events from here on, or no longer
  std::vector<Trigger> triggers = {};  // the last one for a session applies
  bool learns_tags = false;            // the program reports its threads' tags here; not an action
  bool graph = false;                  // show each call with the calls below it
  std::optional<uint32_t> graph_depth = {};  // so many levels of calls; at least 1
  bool syscalls = false;  // for a graph: shows the system calls made within its calls, too
  // For a graph: shows a root's call and all below it only if this holds when it has ended.
  std::optional<Expr> keep_if = {};
  // Takes hits only while a call of its session's graph is open. Not an action.
  bool within_graph = false;
  // Argument 0 is the target of a call, and its counts make the session's graph grow. Not an
  // action.
  bool sees_callees = false;

  bool operator==(const Spec&) const = default;
};

// Whether it is evaluated when a call ends, because part of it is known only then.
bool waits_for_return(const Expr& expr);
bool waits_for_return(const Aggregate& aggregate);
// Whether its values are the times for which threads are blocked within calls.
bool is_of_blocks(const Aggregate& aggregate);
// Whether the kernel must split durations.
bool splits_durations(const Spec& spec);
// Whether the condition defers all actions to the return.
bool is_all_at_return(const Spec& spec);
// Whether the event is of the return instead of the hit.
bool is_event_at_return(const Spec& spec);
// Whether returns are needed.
bool follows_calls(const Spec& spec);
// Whether hits are streamed. Calls of a graph are, unless they are summed up.
bool has_events(const Spec& spec);

// Whether it shows, checks or stores tags of threads.
bool uses_tags(const Spec& spec);
bool uses_tags(const Expr& expr);

// Whether an aggregate is by path.
bool has_path_keys(const Spec& spec);
// Whether an aggregate is by stacks, or by callers.
bool has_stack_keys(const Spec& spec);

// The canonical text of the actions, in the syntax of --do; "tags" if it learns tags and "callees"
// if it sees them. The condition has a text of its own.
std::string to_string(const Spec& spec);
std::string to_string(const Aggregate& aggregate);

}  // namespace tracectl
