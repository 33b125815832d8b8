// SPDX-License-Identifier: BSD-2-Clause
//
// Merges the rings of a session's CPUs into one stream in order of time.
//
// An event may be released when no ring can bring an earlier one any more. A program reads the
// clock *after* it has reserved its record. So a ring that is looked at at time T and then drained
// of all that was reserved can only bring records later than T: its bound is T. If a ring ends in a
// record that is still being written, that record may have a time as early as the last look that
// did not see it: its bound stays where it was. Everything before the lowest bound is final. No
// delay is guessed. Within one ring neighbours can be in reverse order (if a program is preempted
// between the reservation and the clock), so each ring's events are sorted as they arrive.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "daemon/model/event.h"

namespace tracectl {

class Merger {
 public:
  explicit Merger(size_t ring_count) : rings_(ring_count) {}

  void add(size_t ring, StreamItem item);
  // The ring was looked at at this time, and everything that was reserved then was read.
  void drained(size_t ring, uint64_t looked_at_ns) { rings_[ring].bound_ns = looked_at_ns; }

  // Everything before this time was released, or can be released.
  uint64_t bound_ns() const;
  // Appends all final items, in ts order.
  void release(std::vector<StreamItem>& to);
  // The same for one ring, regardless of the others.
  void release(size_t ring, std::vector<StreamItem>& to);
  // Also appends items that are not final. Nothing may be added after that.
  void release_all(std::vector<StreamItem>& to);
  bool is_empty(size_t ring) const { return rings_[ring].items.empty(); }

 private:
  struct Pending {
    std::deque<StreamItem> items;  // in ts order
    uint64_t bound_ns = 0;
  };

  std::vector<Pending> rings_;
};

uint64_t ts_of(const StreamItem& item);

}  // namespace tracectl
