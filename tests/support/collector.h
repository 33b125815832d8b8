// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <mutex>
#include <span>
#include <vector>

#include "daemon/stream/sink.h"

namespace tracectl::on_kernel {

// Keeps everything that a session streams.
class Collector : public EventSink {
 public:
  void take(std::span<const StreamItem> items) override {
    std::lock_guard lock(mutex_);
    items_.insert(items_.end(), items.begin(), items.end());
  }
  std::vector<StreamItem> items() const {
    std::lock_guard lock(mutex_);
    return items_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<StreamItem> items_;
};

inline std::vector<Event> events_of(const Collector& collector) {
  std::vector<Event> events;
  for (const StreamItem& item : collector.items())
    if (const auto* event = std::get_if<Event>(&item)) events.push_back(*event);
  return events;
}

}  // namespace tracectl::on_kernel
