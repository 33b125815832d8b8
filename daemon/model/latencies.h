// SPDX-License-Identifier: BSD-2-Clause
//
// What settings that measure from one probe to another come to, beside the rows of what they do.
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
};

struct SlowPair {
  uint64_t duration_ns = 0;
  uint64_t ended_ns = 0;  // since boot
  std::vector<KeyPart> by = {};
  pid_t from_pid = 0, from_tid = 0, to_pid = 0, to_tid = 0;
};

struct LatencyResult {
  uint64_t started = 0;                // hits of the first probe that were kept
  uint64_t overwritten = 0;            // of them: the same key started once more before its end
  uint64_t matched = 0;                // ends that found their start
  uint64_t unmatched = 0;              // ends that did not
  uint64_t unread = 0;                 // hits of both whose key could not be read
  uint64_t dropped = 0;                // hits of both for which there was no room
  uint64_t unlisted = 0;               // matched, and lost to `slowest` though perhaps among them
  uint64_t carried = 0;                // open when the counters began
  uint32_t wanted = 0;                 // how many of the slowest
  std::vector<SlowPair> slowest = {};  // the slowest first

  // Started, and neither ended nor overwritten so far. Counters that are read while probes are hit can
  // be a hit apart: never below 0.
  uint64_t open() const {
    const uint64_t all = carried + started, closed = matched + overwritten;
    return all > closed ? all - closed : 0;
  }
  // What other hooks of the same pair have counted, or the same hooks before.
  void add(const LatencyResult& other);
};

using Latencies = std::map<LatencyKey, LatencyResult>;

}  // namespace tracectl
