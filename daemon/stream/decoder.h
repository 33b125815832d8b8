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

// Data of a record that is not part of its event.
struct RecordMarks {
  uint64_t ring_dropped = 0;  // records that the ring had lost when this one was made
  uint32_t tag = 0;           // the number of its tag, as in the record
};
struct DecodedRecord : RecordMarks {
  Event event;
};

// Records are untrusted. nullopt if one is too short, has an unknown kind or source, or contradicts
// itself.
std::optional<DecodedRecord> decode_record(std::span<const std::byte> record, unsigned cpu,
                                           const Sources& sources);
// Decodes into an event that is used again: only its memory is kept. After nullopt its contents are
// undefined.
std::optional<RecordMarks> decode_record_into(Event& event, std::span<const std::byte> record,
                                              unsigned cpu, const Sources& sources);

// A source of records that was looked up before.
struct KnownSource {
  uint32_t id = 0;
  const std::shared_ptr<const EventSource>* source = nullptr;  // points into the sources
  bool has_numbers_only = false;
};
// Decodes into a hit, if the record is one with only numbers; otherwise nullopt. The record must be
// at a multiple of 8, as in a ring. `last` remembers the source for the next record, which mostly
// has the same one.
std::optional<RecordMarks> decode_plain_hit(PlainHit& hit, std::span<const std::byte> record,
                                            unsigned cpu, const Sources& sources,
                                            KnownSource& last);

// A record whose event needs no other records.
struct PlainRecord {
  uint64_t ts_ns = 0;
  uint64_t ring_dropped = 0;  // as in RecordMarks
};
// nullopt for other records.
std::optional<PlainRecord> look_at_plain_record(std::span<const std::byte> record);

// Like decode_record(), for the record of a stack that is used as a key for the first time; nullopt
// for other records.
std::optional<StackAddresses> decode_key_stack(std::span<const std::byte> record);

// A record that waited in the kernel for the end of a call.
struct WaitedRecord {
  std::span<const std::byte> bytes;  // in the format of decode_record()
  unsigned cpu = 0;                  // of the hit
};
// The records that a call has kept, or a part of them.
struct KeptRecords {
  std::vector<WaitedRecord> records;
  uint64_t ring_dropped = 0;  // as for any record
  uint64_t lost = 0;          // later records of the call, which had no room to wait
  uint64_t ts_ns = 0;         // the end of the call
};
// Like decode_record(), for records that have waited; nullopt for other records.
std::optional<KeptRecords> decode_kept(std::span<const std::byte> record);

// Converts enum tc_walk_end; unknown values become `unreadable`.
StackEnd end_of_walk(uint32_t end);

}  // namespace tracectl
