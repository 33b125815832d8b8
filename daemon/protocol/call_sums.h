// SPDX-License-Identifier: BSD-2-Clause
//
// The JSON that `tracectl report` and `tracectl graph --report` print; no method has these. The rules
// of such structs: daemon/protocol/messages.h. Times of calls are missing if no call's end was seen.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tracectl::protocol {

struct FunctionSumsPart {
  std::string name;
  uint64_t calls = 0;
  uint64_t unwound = 0;
  uint64_t without_end = 0;
  std::optional<uint64_t> total_ns = {}, self_ns = {}, min_ns = {}, max_ns = {};
  // That the probes took within the calls, and that is in no other member; none if it is not known.
  std::optional<uint64_t> probes_ns = {};
  // With `split`: the parts of total_ns in which the threads were running, waited for a CPU, and for anything else. They are
  // of the calls of which they are known; `unsplit`: how many others there are. None for functions that call themselves.
  std::optional<uint64_t> running_ns = {}, runnable_ns = {}, blocked_ns = {}, unsplit = {};
  std::optional<double> avg_ns = {};
  // Half, 90 % and 99 % of the calls took at most so long.
  std::optional<uint64_t> p50_ns = {}, p90_ns = {}, p99_ns = {};
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("name", s.name);
    f("calls", s.calls);
    f("unwound", s.unwound);
    f("without_end", s.without_end);
    f("total_ns", s.total_ns);
    f("self_ns", s.self_ns);
    f("min_ns", s.min_ns);
    f("max_ns", s.max_ns);
    f("probes_ns", s.probes_ns);
    f("running_ns", s.running_ns);
    f("runnable_ns", s.runnable_ns);
    f("blocked_ns", s.blocked_ns);
    f("unsplit", s.unsplit);
    f("avg_ns", s.avg_ns);
    f("p50_ns", s.p50_ns);
    f("p90_ns", s.p90_ns);
    f("p99_ns", s.p99_ns);
  }
};
// The places of a tree are a list, because calls nest deeper than JSON readers follow. `children` are
// indexes in it, all greater than this place's.
struct CallPlacePart {
  std::string name;
  uint64_t depth = 0;  // the number of calls around it
  uint64_t calls = 0;
  uint64_t unwound = 0;
  uint64_t without_end = 0;
  std::optional<uint64_t> total_ns = {}, self_ns = {};
  std::vector<uint64_t> children = {};
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("name", s.name);
    f("depth", s.depth);
    f("calls", s.calls);
    f("unwound", s.unwound);
    f("without_end", s.without_end);
    f("total_ns", s.total_ns);
    f("self_ns", s.self_ns);
    f("children", s.children);
  }
};
struct CallSumsPart {
  std::vector<FunctionSumsPart> functions;
  std::optional<std::vector<CallPlacePart>> tree = {};
  uint64_t lost = 0;  // events; for sums made in the kernel, calls that are not counted
  std::optional<bool> unknown_end = {};  // true: more may be missing at the end of the recording
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("functions", s.functions);
    f("tree", s.tree);
    f("lost", s.lost);
    f("unknown_end", s.unknown_end);
  }
};

// The JSON of `tracectl report --timeline`: for each thread the number of events in each part of the time.
struct ThreadTimePart {
  uint64_t pid = 0, tid = 0;
  std::string comm;
  uint64_t events = 0;
  std::vector<uint64_t> counts;
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("pid", s.pid);
    f("tid", s.tid);
    f("comm", s.comm);
    f("events", s.events);
    f("counts", s.counts);
  }
};
struct TimelinePart {
  uint64_t first = 0, last = 0;         // ns since boot
  std::vector<ThreadTimePart> threads;  // those with most events first
  std::vector<uint64_t> lost;           // in each part
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("first", s.first);
    f("last", s.last);
    f("threads", s.threads);
    f("lost", s.lost);
  }
};

// The growth; missing if one of the recordings has nothing to compare.
struct TimeChangePart {
  int64_t self_ns = 0;
  std::optional<double> avg_ns = {};
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("self_ns", s.self_ns);
    f("avg_ns", s.avg_ns);
  }
};
// `before` or `after` is missing if that recording has no call of the function.
struct FunctionChangePart {
  std::string name;
  std::optional<FunctionSumsPart> before = {}, after = {};
  TimeChangePart change;
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("name", s.name);
    f("before", s.before);
    f("after", s.after);
    f("change", s.change);
  }
};
struct CallChangesPart {
  std::vector<FunctionChangePart> functions;
  uint64_t lost_before = 0;  // events
  uint64_t lost_after = 0;
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("functions", s.functions);
    f("lost_before", s.lost_before);
    f("lost_after", s.lost_after);
  }
};

}  // namespace tracectl::protocol
