// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/events/decoder.h"

#include <cstring>

#include "bpf/abi.h"

namespace tracectl {
namespace {

bool is_sound(const tc_record& record, size_t length) {
  return record.kind == TC_RECORD_HIT && record.arg_count <= record.arg_room &&
         record.arg_room <= TC_MAX_ARGS && length >= sizeof(tc_record) + record.arg_room * 8u;
}

std::string comm_of(const tc_record& record) {
  return std::string(record.comm, ::strnlen(record.comm, TC_COMM_LEN));
}

std::vector<Value> args_of(const tc_record& record, const std::byte* values) {
  std::vector<Value> args(record.arg_count);
  for (size_t i = 0; i < args.size(); ++i) {
    if (!(record.arg_valid >> i & 1)) continue;
    uint64_t value = 0;
    std::memcpy(&value, values + i * sizeof(value), sizeof(value));
    args[i] = value;
  }
  return args;
}

}  // namespace

std::optional<DecodedRecord> decode_record(std::span<const std::byte> bytes, unsigned cpu,
                                           const Sources& sources) {
  if (bytes.size() < sizeof(tc_record)) return std::nullopt;
  alignas(tc_record) std::byte copy[sizeof(tc_record)];
  std::memcpy(copy, bytes.data(), sizeof(copy));
  const auto& record = *reinterpret_cast<const tc_record*>(copy);
  if (!is_sound(record, bytes.size())) return std::nullopt;
  const auto source = sources.find(record.source);
  if (source == sources.end()) return std::nullopt;
  return DecodedRecord{Event{.ts_ns = record.ts_ns,
                             .epoch = record.epoch,
                             .cpu = cpu,
                             .pid = static_cast<pid_t>(record.pid),
                             .tid = static_cast<pid_t>(record.tid),
                             .comm = comm_of(record),
                             .source = source->second,
                             .args = args_of(record, bytes.data() + sizeof(tc_record))},
                       record.ring_dropped};
}

}  // namespace tracectl
