// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "daemon/model/event.h"
#include "daemon/model/owner.h"
#include "daemon/stream/symbolizer.h"

namespace tracectl {

// The items of one session that wait for a stack, their own or an earlier one's. They keep their order.
class HeldItems {
 public:
  bool is_empty() const { return items_.empty(); }
  bool has_room() const;

  // Takes the items from the first one with a stack on; all of them if some are held already. The order of each stack
  // is for this owner.
  void hold(std::vector<StreamItem>& items, const std::optional<Owner>& owner);
  // Appends the orders of stacks that have not been made, the earliest first, `most` at most.
  void append_orders(StackOrders& to, size_t most) const;
  // Appends the items up to the first whose stack has not been made, and no longer holds them.
  void release(std::vector<StreamItem>& to);
  // The earliest time of an item that is held, or `otherwise` if that is earlier.
  uint64_t earliest_ns(uint64_t otherwise) const;

 private:
  struct Item {
    StreamItem item;
    std::shared_ptr<StackOrder> order;  // null if it has no stack
  };

  std::deque<Item> items_;
  size_t bytes_ = 0;  // of their copied stacks
};

}  // namespace tracectl
