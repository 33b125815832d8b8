// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>

#include "daemon/model/event.h"

namespace tracectl {

using Sources = std::unordered_map<uint32_t, std::shared_ptr<const EventSource>>;

struct DecodedRecord {
  Event event;
  uint64_t ring_dropped = 0;  // records the ring had lost when this one was made
  uint32_t tag = 0;           // the number of its tag, as the record has it
};

// Trusts nothing in a record: nullopt for one that is too short, of an unknown kind or source,
// or contradicts itself.
std::optional<DecodedRecord> decode_record(std::span<const std::byte> record, unsigned cpu,
                                           const Sources& sources);

// The same for the record of a stack that is a key for the first time; nullopt also for any other.
std::optional<StackAddresses> decode_key_stack(std::span<const std::byte> record);

// enum tc_walk_end; `unreadable` for what is none.
StackEnd end_of_walk(uint32_t end);

}  // namespace tracectl
