// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <mutex>
#include <span>
#include <variant>
#include <vector>

#include "daemon/stream/sink.h"

namespace tracectl::on_kernel {

// Keeps every event; the exception for a loss fails the test.
class Collected : public EventSink {
 public:
  void take(std::span<const StreamItem> items) override {
    const std::lock_guard lock(mutex_);
    for (const StreamItem& item : items) events_.push_back(std::get<Event>(item));
  }
  std::vector<Event> events() const {
    const std::lock_guard lock(mutex_);
    return events_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<Event> events_;
};

}  // namespace tracectl::on_kernel
