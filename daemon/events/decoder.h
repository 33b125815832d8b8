// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "daemon/model/event.h"
#include "daemon/model/plain_hit.h"

namespace tracectl {

using Sources = std::unordered_map<uint32_t, std::shared_ptr<const EventSource>>;

// What a record has besides its event.
struct RecordMarks {
  uint64_t ring_dropped = 0;  // records the ring had lost when this one was made
  uint32_t tag = 0;           // the number of its tag, as the record has it
};
struct DecodedRecord : RecordMarks {
  Event event;
};

// Trusts nothing in a record: nullopt for one that is too short, of an unknown kind or source,
// or contradicts itself.
std::optional<DecodedRecord> decode_record(std::span<const std::byte> record, unsigned cpu,
                                           const Sources& sources);
// The same into what has been another event, of which nothing stays but memory. Where there is none it
// is anything.
std::optional<RecordMarks> decode_record_into(Event& event, std::span<const std::byte> record,
                                              unsigned cpu, const Sources& sources);

// A source of records that has been looked up.
struct KnownSource {
  uint32_t id = 0;
  const std::shared_ptr<const EventSource>* source = nullptr;  // one of the sources
  bool has_numbers_only = false;
};
// Into a hit, where the record is one that has nothing but numbers; nullopt for all others, too. It lies
// as in a ring, at a multiple of 8. `last` is for the next record, which most often is of the same source.
std::optional<RecordMarks> decode_plain_hit(PlainHit& hit, std::span<const std::byte> record,
                                            unsigned cpu, const Sources& sources,
                                            KnownSource& last);

// The time of a record of an event that is made of nothing but the record; nullopt for others.
std::optional<uint64_t> time_of_plain_record(std::span<const std::byte> record);

// As decode_record for the record of a stack that is a key for the first time; nullopt also for any other.
std::optional<StackAddresses> decode_key_stack(std::span<const std::byte> record);

// A record that has waited in the kernel for the end of a call.
struct WaitedRecord {
  std::span<const std::byte> bytes;  // as decode_record takes it
  unsigned cpu = 0;                  // where it was made
};
// What a call has kept, or a part of that.
struct KeptRecords {
  std::vector<WaitedRecord> records;
  uint64_t ring_dropped = 0;  // as of any record
  uint64_t lost = 0;          // behind them, as there was no room to wait
  uint64_t ts_ns = 0;         // when the call had ended
};
// As decode_record for records that have waited; nullopt also for any other.
std::optional<KeptRecords> decode_kept(std::span<const std::byte> record);

// enum tc_walk_end; `unreadable` for what is none.
StackEnd end_of_walk(uint32_t end);

}  // namespace tracectl
