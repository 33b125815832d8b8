// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <mutex>

#include "daemon/stream/sink.h"

namespace tracectl {

// A sink that keeps items until somebody takes them out. Items that do not fit are counted, and a Lost
// item takes their place as soon as there is room again.
class BoundedSink : public EventSink {
 public:
  void take(std::span<const StreamItem> items) final {
    const std::lock_guard lock(mutex_);
    for (const StreamItem& item : items) {
      last_ts_ns_ = ts_of(item);
      if (full()) {
        lose(item);
        continue;
      }
      report_loss();
      append(item);
    }
    arrived();
  }

 protected:
  // Called with the mutex held.
  virtual bool full() const = 0;
  virtual void append(const StreamItem& item) = 0;
  virtual void arrived() = 0;  // wakes the thread that takes items out

  // Uses the time of the last item: a later time could be after that of items to come.
  void report_loss() {
    const uint64_t ts_ns = last_ts_ns_;
    if (lost_in_ring_ > 0) append(Lost{ts_ns, lost_in_ring_, LossCause::ring_full, std::nullopt});
    if (lost_ > 0) append(Lost{ts_ns, lost_, LossCause::slow_client, std::nullopt});
    all_lost_ += lost_;
    lost_ = lost_in_ring_ = 0;
  }
  static uint64_t ts_of(const StreamItem& item) {
    return std::visit([](const auto& part) { return part.ts_ns; }, item);
  }

  std::mutex mutex_;
  uint64_t lost_ = 0;          // here, not reported yet
  uint64_t lost_in_ring_ = 0;  // in rings, by reports for which there was no room
  uint64_t all_lost_ = 0;      // here, reported

 private:
  uint64_t last_ts_ns_ = 0;

  void lose(const StreamItem& item) {
    if (const auto* lost = std::get_if<Lost>(&item))
      lost_in_ring_ += lost->count;
    else
      ++lost_;
  }
};

}  // namespace tracectl
