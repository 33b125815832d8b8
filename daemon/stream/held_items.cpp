// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/stream/held_items.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "daemon/base/clock.h"
#include "daemon/stream/merger.h"

namespace tracectl {
namespace {

constexpr size_t kMostHeld = 1 << 14, kMostHeldBytes = 32 << 20;  // of one session

std::shared_ptr<const RawStack> take_raw_stack(StreamItem& item) {
  auto* event = std::get_if<Event>(&item);
  return event ? std::exchange(event->raw_stack, nullptr) : nullptr;
}

}  // namespace

bool HeldItems::has_room() const { return items_.size() < kMostHeld && bytes_ < kMostHeldBytes; }

void HeldItems::hold(std::vector<StreamItem>& items, const std::optional<Owner>& owner) {
  size_t left = 0;
  for (StreamItem& item : items) {
    auto raw = take_raw_stack(item);
    if (!raw && items_.empty()) {
      ++left;
      continue;
    }
    Item held{std::move(item), nullptr};
    if (raw) {
      bytes_ += raw->bytes.size();
      held.order = std::make_shared<StackOrder>(
          StackOrder{std::get<Event>(held.item).pid, std::move(raw), boot_ns(), owner});
    }
    items_.push_back(std::move(held));
  }
  items.erase(items.begin() + static_cast<std::ptrdiff_t>(left), items.end());
}

void HeldItems::append_orders(StackOrders& to, size_t most) const {
  size_t appended = 0;
  for (const Item& held : items_) {
    if (!held.order || held.order->stack) continue;
    if (appended++ == most) break;
    to.push_back(held.order);
  }
}

void HeldItems::release(std::vector<StreamItem>& to) {
  for (; !items_.empty(); items_.pop_front()) {
    Item& first = items_.front();
    if (first.order && !first.order->stack) break;
    if (first.order) {
      std::get<Event>(first.item).stack = first.order->stack;
      bytes_ -= first.order->raw->bytes.size();
    }
    to.push_back(std::move(first.item));
  }
}

uint64_t HeldItems::earliest_ns(uint64_t otherwise) const {
  for (const Item& held : items_) otherwise = std::min(otherwise, ts_of(held.item));
  return otherwise;
}

}  // namespace tracectl
