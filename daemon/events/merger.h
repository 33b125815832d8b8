// SPDX-License-Identifier: BSD-2-Clause
//
// From the rings of a session's CPUs to one stream in the order of time.
//
// When may an event be released? When no ring can still bring an earlier one. A program takes the
// time *after* it has reserved its record. So a ring that is looked at at time T and then drained
// of all that was reserved can only bring records later than T: its bound is T. A ring that ends
// in a record still being written may bring that record with a time as early as the last look
// that did not see it: its bound stays where it was. Everything before the least bound is final.
// No delay is guessed. Within one ring neighbours can be inverted (a program preempted between
// reserving and reading the clock), so each ring's events are put in order as they come.
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
  // The ring was looked at at this time, and brought all that was reserved then.
  void drained(size_t ring, uint64_t looked_at_ns) { rings_[ring].bound_ns = looked_at_ns; }

  // Everything before this time has been, or is about to be, released.
  uint64_t bound_ns() const;
  // Appends all items that are final, in ts order.
  void release(std::vector<StreamItem>& to);
  // The same of one ring, for whom the order of the others is nothing.
  void release(size_t ring, std::vector<StreamItem>& to);
  // What is not final, too; nothing is added behind it.
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
