// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <mutex>

#include "daemon/stream/sink.h"

namespace tracectl {

// A sink that keeps items until somebody takes them out. Items that do not fit are counted, and a Lost
// item takes their place as soon as there is room again.
class BoundedSink : public HitSink {
 public:
  void take(std::span<const StreamItem> items) final { take_each(items); }
  void take(std::span<const PlainHit> hits) final { take_each(hits); }
  bool needs_one_order() const final { return true; }

 protected:
  // Called with the mutex held.
  virtual bool full() const = 0;
  virtual bool empty() const = 0;
  virtual void append(const StreamItem& item) = 0;
  virtual void append(const PlainHit& hit) = 0;
  virtual void arrived() = 0;  // wakes the thread that takes items out: there were none

  // Uses the time of the last item: a later time could be after that of items to come.
  void report_loss() {
    const uint64_t ts_ns = last_ts_ns_;
    if (lost_in_ring_ > 0)
      append(StreamItem(Lost{ts_ns, lost_in_ring_, LossCause::ring_full, std::nullopt}));
    if (lost_ > 0) append(StreamItem(Lost{ts_ns, lost_, LossCause::slow_client, std::nullopt}));
    all_lost_ += lost_;
    lost_ = lost_in_ring_ = 0;
  }

  bool has_lost() const { return lost_ > 0 || lost_in_ring_ > 0; }

  mutable std::mutex mutex_;
  uint64_t lost_ = 0;          // here, not reported yet
  uint64_t lost_in_ring_ = 0;  // in rings, by reports for which there was no room
  uint64_t all_lost_ = 0;      // here, reported

 private:
  template <class Item> void take_each(std::span<const Item> items) {
    const std::lock_guard lock(mutex_);
    const bool was_empty = empty();
    for (const Item& item : items) {
      last_ts_ns_ = ts_of(item);
      if (full()) {
        lose(item);
        continue;
      }
      report_loss();
      append(item);
    }
    if (was_empty) arrived();
  }

  static uint64_t ts_of(const PlainHit& hit) { return hit.ts_ns; }
  static uint64_t ts_of(const StreamItem& item) {
    return std::visit([](const auto& part) { return part.ts_ns; }, item);
  }

  uint64_t last_ts_ns_ = 0;

  void lose(const PlainHit&) { ++lost_; }
  void lose(const StreamItem& item) {
    if (const auto* lost = std::get_if<Lost>(&item))
      lost_in_ring_ += lost->count;
    else
      ++lost_;
  }
};

}  // namespace tracectl
