// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/stream/merger.h"

#include <algorithm>
#include <queue>

namespace tracectl {

uint64_t ts_of(const StreamItem& item) {
  return std::visit([](const auto& part) { return part.ts_ns; }, item);
}

// Equal times stay in the order of the ring.
void Merger::add(size_t ring, StreamItem item) {
  auto& items = rings_[ring].items;
  const uint64_t ts = ts_of(item);
  auto at = items.end();
  while (at != items.begin() && ts_of(*std::prev(at)) > ts) --at;
  items.insert(at, std::move(item));
}

uint64_t Merger::bound_ns() const {
  uint64_t bound = UINT64_MAX;
  for (const Pending& ring : rings_) bound = std::min(bound, ring.bound_ns);
  return bound;
}

void Merger::release(std::vector<StreamItem>& to) {
  struct Head {
    uint64_t ts;
    size_t ring;
    bool operator>(const Head& other) const { return ts > other.ts; }
  };
  const uint64_t bound = bound_ns();
  std::priority_queue<Head, std::vector<Head>, std::greater<>> heads;
  const auto push_head = [&](size_t ring) {
    const auto& items = rings_[ring].items;
    if (!items.empty() && ts_of(items.front()) < bound) heads.push({ts_of(items.front()), ring});
  };
  for (size_t ring = 0; ring < rings_.size(); ++ring) push_head(ring);
  while (!heads.empty()) {
    const size_t ring = heads.top().ring;
    heads.pop();
    to.push_back(std::move(rings_[ring].items.front()));
    rings_[ring].items.pop_front();
    push_head(ring);
  }
}

void Merger::release_all(std::vector<StreamItem>& to) {
  for (Pending& ring : rings_) ring.bound_ns = UINT64_MAX;
  release(to);
}

void Merger::release(size_t ring, std::vector<StreamItem>& to) {
  auto& [items, bound_ns] = rings_[ring];
  for (; !items.empty() && ts_of(items.front()) < bound_ns; items.pop_front())
    to.push_back(std::move(items.front()));
}

}  // namespace tracectl
