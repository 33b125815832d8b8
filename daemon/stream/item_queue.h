// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <functional>
#include <vector>

#include "daemon/stream/bounded_sink.h"

namespace tracectl {

// A session's events for a reader in the same process.
class ItemQueue final : public BoundedSink {
 public:
  ItemQueue(size_t limit_items, std::function<void()> wake)
      : limit_items_(limit_items), wake_(std::move(wake)) {}

  std::vector<StreamItem> drain() {
    const std::lock_guard lock(mutex_);
    report_loss();
    return std::exchange(items_, {});
  }

 private:
  bool full() const override { return items_.size() >= limit_items_; }
  void append(const StreamItem& item) override { items_.push_back(item); }
  void arrived() override { wake_(); }

  const size_t limit_items_;
  const std::function<void()> wake_;
  std::vector<StreamItem> items_;
};

}  // namespace tracectl
