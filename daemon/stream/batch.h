// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <memory>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "daemon/stream/sink.h"

namespace tracectl {

// A few hits or a few other items of one CPU, in ts order, on their way to sinks.
//
// They are built in the memory of earlier ones, because allocating memory for each event would take
// longer than everything else. An item that was begun counts once it is kept; until then the next
// one overwrites it.
class Batch {
 public:
  using Sinks = std::vector<std::shared_ptr<HitSink>>;

  // May contain data of an earlier hit.
  PlainHit& begin_hit() { return hits_[hit_count_]; }
  void keep_hit(const Sinks& sinks) {
    if (item_count_) hand_over_items(sinks);
    if (++hit_count_ == hits_.size()) hand_over_hits(sinks);
  }

  // May contain data of an earlier event.
  Event& begin_event() {
    StreamItem& item = items_[item_count_];
    if (auto* event = std::get_if<Event>(&item)) return *event;
    return item.emplace<Event>();
  }
  void keep_event(const Sinks& sinks) { keep_item(sinks); }

  // Adds it before the item that was begun and not kept.
  void add(const Lost& lost, const Sinks& sinks) {
    const PlainHit hit = hits_[hit_count_];
    StreamItem item = std::move(items_[item_count_]);
    items_[item_count_] = lost;
    keep_item(sinks);
    hits_[hit_count_] = hit;
    items_[item_count_] = std::move(item);
  }

  void hand_over(const Sinks& sinks) {
    if (hit_count_) hand_over_hits(sinks);
    if (item_count_) hand_over_items(sinks);
  }

 private:
  static constexpr size_t kMost = 32;  // fits in the processor's first-level cache

  void keep_item(const Sinks& sinks) {
    if (hit_count_) hand_over_hits(sinks);
    if (++item_count_ == items_.size()) hand_over_items(sinks);
  }
  void hand_over_hits(const Sinks& sinks) {
    const auto hits = std::span<const PlainHit>(hits_).first(std::exchange(hit_count_, 0));
    for (const auto& sink : sinks) sink->take(hits);
  }
  void hand_over_items(const Sinks& sinks) {
    const auto items = std::span<const StreamItem>(items_).first(std::exchange(item_count_, 0));
    for (const auto& sink : sinks) sink->take(items);
  }

  std::vector<PlainHit> hits_ = std::vector<PlainHit>(kMost);
  std::vector<StreamItem> items_ = std::vector<StreamItem>(kMost);
  size_t hit_count_ = 0, item_count_ = 0;
};

}  // namespace tracectl
