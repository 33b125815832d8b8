// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <functional>
#include <memory>
#include <unordered_map>
#include <utility>

#include "daemon/model/arrived.h"
#include "daemon/stream/bounded_sink.h"

namespace tracectl {

// A session's events for a reader in the same process.
class ItemQueue final : public BoundedSink {
 public:
  ItemQueue(size_t limit_items, std::function<void()> wake)
      : limit_items_(limit_items), wake_(std::move(wake)) {}

  // Replaces the contents of `to`, whose memory is used for the next events. Valid while the queue lives.
  void drain(Arrived& to) {
    to.clear();
    const std::lock_guard lock(mutex_);
    report_loss();
    std::swap(to, arrived_);
  }

 private:
  bool full() const override { return arrived_.size() >= limit_items_; }
  bool empty() const override { return arrived_.size() == 0; }
  void append(const StreamItem& item) override { arrived_.add(item); }
  void append(const PlainHit& hit) override { arrived_.add(hit, kept(*hit.source)); }
  void arrived() override { wake_(); }

  // The reader's own may be gone when the hit is taken out.
  const std::shared_ptr<const EventSource>* kept(const std::shared_ptr<const EventSource>& source) {
    if (!last_ || last_->get() != source.get())
      last_ = &sources_.try_emplace(source.get(), source).first->second;
    return last_;
  }

  const size_t limit_items_;
  const std::function<void()> wake_;
  Arrived arrived_;
  std::unordered_map<const EventSource*, std::shared_ptr<const EventSource>> sources_;
  const std::shared_ptr<const EventSource>* last_ = nullptr;
};

}  // namespace tracectl
