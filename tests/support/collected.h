// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <gtest/gtest.h>

#include <mutex>
#include <span>
#include <variant>
#include <vector>

#include "daemon/stream/sink.h"

namespace tracectl::on_kernel {

// Keeps every event.
class Collected : public EventSink {
 public:
  void take(std::span<const StreamItem> items) override {
    const std::lock_guard lock(mutex_);
    for (const StreamItem& item : items)
      if (const auto* event = std::get_if<Event>(&item))
        events_.push_back(*event);
      else
        lost_ += std::get<Lost>(item).count;
  }
  // Fails the test if an event was lost: what it asks of the events is asked of all.
  std::vector<Event> events() const {
    const std::lock_guard lock(mutex_);
    EXPECT_EQ(lost_, 0u) << "events lost";
    return events_;
  }
  // For a program that calls as fast as it can: whatever else was lost.
  size_t count() const {
    const std::lock_guard lock(mutex_);
    return events_.size();
  }

 private:
  mutable std::mutex mutex_;
  std::vector<Event> events_;
  uint64_t lost_ = 0;
};

}  // namespace tracectl::on_kernel
