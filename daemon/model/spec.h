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

// What is aggregated in the kernel. Its rows are by probe, and by the keys.
struct Aggregate {
  enum class Kind : uint8_t { count, sum, avg, min, max, hist, lhist, time };

  static constexpr size_t kMostKeys = 3;
  static constexpr uint64_t kMostBuckets = 1000;  // of lhist, without those below min and above max

  Kind kind = Kind::count;
  std::optional<Expr> value = {};  // of all but count and time
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
  std::optional<StackBy> by = {};         // none: as the probed object allows

  bool operator==(const StackCapture&) const = default;
};

// A hit lets a session speak, or silences it.
struct Trigger {
  std::string session;
  bool speaks = true;

  bool operator==(const Trigger&) const = default;
};

// What a hit does.
struct Spec {
  static constexpr size_t kMostValues = 12;
  static constexpr size_t kMostAggregates = 8;
  static constexpr size_t kMostTagBytes = 15;
  static constexpr size_t kMostTriggers = 4;
  static constexpr uint32_t kMostGraphDepth = 10'000;

  std::optional<Expr> when = {};           // only where this holds
  bool event = false;                      // stream a record of the hit
  std::vector<Expr> values = {};           // of the record; none: all arguments
  bool returns = false;                    // stream the return too
  std::optional<StackCapture> stack = {};  // of the event
  std::vector<Aggregate> aggregates = {};  // no two alike
  std::optional<uint64_t> sample = {};     // one hit in so many; at least 1
  std::optional<uint64_t> limit = {};      // so many a second; at least 1
  bool deepest = false;                    // only hits with the stack deeper than any taken before
  std::optional<std::string> tag = {};     // labels the thread's later events; empty: no label
  std::optional<bool> silent = {};         // no events of the thread from here on, or again
  std::vector<Trigger> triggers = {};      // the last one of a session holds
  bool learns_tags = false;                // the program tells here of its threads' tags; no action
  bool graph = false;                      // each call is shown with the calls under it
  std::optional<uint32_t> graph_depth = {};  // so many levels of calls; at least 1
  // Of a graph: all that is shown of a root's call, only where this holds when it has ended.
  std::optional<Expr> keep_if = {};
  // Takes hits only while a call of its session's graph is open. No action.
  bool within_graph = false;
  // Argument 0 is what a call leads to, and its counts are for the session's graph to grow by. No action.
  bool sees_callees = false;

  bool operator==(const Spec&) const = default;
};

// Whether it is worked out when a call ends: it has in it what is known only then.
bool waits_for_return(const Expr& expr);
bool waits_for_return(const Aggregate& aggregate);
// Whether all that the spec does does: by its condition.
bool is_all_at_return(const Spec& spec);
// Whether the event is one of the return instead of the hit.
bool is_event_at_return(const Spec& spec);
// Whether the return is of any interest.
bool follows_calls(const Spec& spec);
// Whether hits are streamed. Calls of a graph are unless they are summed up.
bool has_events(const Spec& spec);

// Whether it shows, asks for or keeps anything by the tags of threads.
bool uses_tags(const Spec& spec);
bool uses_tags(const Expr& expr);

// Whether an aggregate is kept by the calls around.
bool has_path_keys(const Spec& spec);
// Whether an aggregate is kept by stacks, or by callers.
bool has_stack_keys(const Spec& spec);

// The canonical text of what a hit does, as --do takes it; "tags" where it learns tags and
// "callees" where it sees them. The condition has its own text.
std::string to_string(const Spec& spec);
std::string to_string(const Aggregate& aggregate);

}  // namespace tracectl
