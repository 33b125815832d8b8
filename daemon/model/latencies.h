// SPDX-License-Identifier: BSD-2-Clause
//
// Results of settings that measure from one probe to another, apart from the rows of their actions.
#pragma once

#include <sys/types.h>

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "daemon/model/rows.h"

namespace tracectl {

struct LatencyKey {
  std::string from, to;  // the patterns
  std::string by;

  auto operator<=>(const LatencyKey&) const = default;
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("from", s.from);
    f("to", s.to);
    f("by", s.by);
  }
};

struct SlowPair {
  uint64_t duration_ns = 0;
  uint64_t ended_ns = 0;  // since boot
  std::vector<KeyPart> by = {};
  pid_t from_pid = 0, from_tid = 0, to_pid = 0, to_tid = 0;

  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("duration_ns", s.duration_ns);
    f("ended_ns", s.ended_ns);
    f("by", s.by);
    f("from_pid", s.from_pid);
    f("from_tid", s.from_tid);
    f("to_pid", s.to_pid);
    f("to_tid", s.to_tid);
  }
};

struct LatencyResult {
  uint64_t started = 0;      // hits of the first probe that were stored
  uint64_t overwritten = 0;  // of these: the same key started again before its end
  uint64_t matched = 0;      // ends with a start
  uint64_t unmatched = 0;    // ends without a start
  uint64_t unread = 0;       // hits of both whose key could not be read
  uint64_t dropped = 0;      // hits of both for which there was no room
  uint64_t unlisted = 0;     // matched, but missing in `slowest`, to which they may belong
  uint64_t carried = 0;      // open when the counters began
  uint32_t wanted = 0;       // length of `slowest`
  std::vector<SlowPair> slowest = {};  // the slowest first

  // Started, but neither ended nor overwritten yet. Never below 0, although counters that are read
  // while probes are hit can differ by a hit.
  uint64_t open() const {
    const uint64_t all = carried + started, closed = matched + overwritten;
    return all > closed ? all - closed : 0;
  }
  // Adds the counts of other hooks of the same pair, or earlier counts of the same hooks.
  void add(const LatencyResult& other);
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("started", s.started);
    f("overwritten", s.overwritten);
    f("matched", s.matched);
    f("unmatched", s.unmatched);
    f("unread", s.unread);
    f("dropped", s.dropped);
    f("unlisted", s.unlisted);
    f("carried", s.carried);
    f("wanted", s.wanted);
    f("slowest", s.slowest);
  }
};

using Latencies = std::map<LatencyKey, LatencyResult>;

}  // namespace tracectl
