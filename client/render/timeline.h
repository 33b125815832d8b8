// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "daemon/model/event.h"
#include "daemon/protocol/call_sums.h"

namespace tracectl {

// Counts of events over time, by thread.
class Timeline {
 public:
  // Of a recording between these times, both included.
  Timeline(uint64_t first_ns, uint64_t last_ns)
      : first_ns_(first_ns), last_ns_(std::max(first_ns, last_ns)) {}

  void add(const StreamItem& item);
  protocol::TimelinePart part() const;

 private:
  static constexpr size_t kParts = 60;
  static constexpr size_t kMostThreads = 1 << 16;
  using Counts = std::array<uint64_t, kParts>;

  struct Thread {
    std::string comm;  // the latest
    Counts counts{};
  };

  size_t part_of(uint64_t ts_ns) const;

  const uint64_t first_ns_, last_ns_;
  std::map<std::pair<pid_t, pid_t>, Thread> threads_;  // by pid and tid; without room: by 0, 0
  Counts lost_{};
};

// A line for each thread, at most `most`: one character for each part of the time, darker for more events,
// relative to the fullest part of any thread.
std::string timeline_text(const protocol::TimelinePart& timeline, size_t most);

}  // namespace tracectl
