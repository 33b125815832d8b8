// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace tracectl {

// Indices of a table in the kernel, from `first` up to `limit`. The lowest unused one is taken first, so that a table
// that grows is no longer than it must be.
class IdPool {
 public:
  IdPool(uint32_t first, uint32_t limit) : next_(first), limit_(limit) {}

  std::optional<uint32_t> take() {
    if (!freed_.empty()) {
      std::pop_heap(freed_.begin(), freed_.end(), std::greater<>{});
      const uint32_t id = freed_.back();
      freed_.pop_back();
      ++used_;
      return id;
    }
    if (next_ == limit_) return std::nullopt;
    // Room for all ids: giving one back takes no memory, so it cannot fail.
    if (freed_.capacity() < next_) freed_.reserve(size_t{2} * next_);
    ++used_;
    return next_++;
  }

  // Marks these as taken, in a pool from which none has been taken yet.
  void restore(std::vector<uint32_t> ids) {
    std::sort(ids.begin(), ids.end());
    for (const uint32_t id : ids) {
      while (next_ < id) freed_.push_back(next_++);
      if (next_ == id) ++next_, ++used_;
    }
    freed_.reserve(next_);
  }

  void give_back(uint32_t id) {
    freed_.push_back(id);
    std::push_heap(freed_.begin(), freed_.end(), std::greater<>{});
    --used_;
  }

  uint32_t used() const { return used_; }
  // Indices that were ever taken are below this.
  uint32_t end() const { return next_; }
  uint32_t limit() const { return limit_; }

 private:
  uint32_t next_;
  uint32_t limit_;
  uint32_t used_ = 0;
  std::vector<uint32_t> freed_;  // a heap, the lowest first
};

}  // namespace tracectl
