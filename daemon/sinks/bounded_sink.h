// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <mutex>

#include "daemon/base/clock.h"
#include "daemon/events/sink.h"

namespace tracectl {

// A sink that keeps what somebody else takes out later. What does not fit is counted, and a Lost
// item stands at its place as soon as there is room again.
class BoundedSink : public EventSink {
 public:
  void take(std::span<const StreamItem> items) final {
    const std::lock_guard lock(mutex_);
    for (const StreamItem& item : items) {
      if (full()) {
        ++lost_;
        continue;
      }
      report_loss(ts_of(item));
      append(item);
    }
    arrived();
  }

 protected:
  // All called with the mutex held.
  virtual bool full() const = 0;
  virtual void append(const StreamItem& item) = 0;
  virtual void arrived() = 0;  // wakes who takes things out

  void report_loss(uint64_t ts_ns) {
    if (lost_ == 0) return;
    append(Lost{ts_ns, lost_, LossCause::slow_client, std::nullopt});
    all_lost_ += lost_;
    lost_ = 0;
  }
  static uint64_t ts_of(const StreamItem& item) {
    return std::visit([](const auto& part) { return part.ts_ns; }, item);
  }

  std::mutex mutex_;
  uint64_t lost_ = 0;      // not reported yet
  uint64_t all_lost_ = 0;  // reported
};

}  // namespace tracectl
