// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "daemon/model/event.h"
#include "daemon/model/plain_hit.h"

namespace tracectl {

// Events that have come, in their order: hits that have only numbers without an Event, which would take longer to make
// than to print.
class Arrived {
 public:
  // `source` is the hit's, and must live as long as it is here.
  void add(const PlainHit& hit, const std::shared_ptr<const EventSource>* source) {
    hits_.push_back(hit);
    hits_.back().source = source;
  }
  void add(StreamItem item) { others_.push_back({hits_.size(), std::move(item)}); }
  size_t size() const { return hits_.size() + others_.size(); }

  // Calls `take` with a PlainHit or a StreamItem.
  template <class Take> void each(Take&& take) const {
    size_t at = 0;
    for (const Other& other : others_) {
      for (; at < other.hits_before; ++at) take(hits_[at]);
      take(other.item);
    }
    for (; at < hits_.size(); ++at) take(hits_[at]);
  }

  // Keeps memory for the next ones, but not that of a flood.
  void clear() {
    constexpr size_t kMostKept = 1 << 15;
    hits_.clear();
    others_.clear();
    if (hits_.capacity() > kMostKept) hits_.shrink_to_fit();
    if (others_.capacity() > kMostKept) others_.shrink_to_fit();
  }

 private:
  struct Other {
    size_t hits_before;
    StreamItem item;
  };

  std::vector<PlainHit> hits_;
  std::vector<Other> others_;
};

}  // namespace tracectl
