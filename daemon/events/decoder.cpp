// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/events/decoder.h"

#include <cstring>

#include "bpf/abi.h"

namespace tracectl {
namespace {

bool is_end(const tc_record& record) {
  return record.kind == TC_RECORD_RETURN || record.kind == TC_RECORD_UNWOUND;
}

// Words before the values: of the end of a call the return value and the duration.
size_t words_before(const tc_record& record) { return is_end(record) ? 2 : 0; }

bool is_sound(const tc_record& record, size_t length) {
  return (record.kind == TC_RECORD_HIT || is_end(record)) && record.arg_count <= TC_MAX_VALUES &&
         record.arg_count <= record.arg_room && record.arg_room <= TC_MAX_RECORD_WORDS &&
         length >= sizeof(tc_record) + (words_before(record) + record.arg_room) * 8u;
}

uint64_t word_at(const std::byte* words, size_t index) {
  uint64_t word = 0;
  std::memcpy(&word, words + index * sizeof(word), sizeof(word));
  return word;
}

void decode_end(const tc_record& record, const std::byte* words, Event& event) {
  event.kind = record.kind == TC_RECORD_RETURN ? EventKind::returned : EventKind::unwound;
  if (record.flags & TC_RECORD_HAS_RETVAL) event.retval = word_at(words, 0);
  event.duration_ns = word_at(words, 1);
}

std::string comm_of(const tc_record& record) {
  return std::string(record.comm, ::strnlen(record.comm, TC_COMM_LEN));
}

// Reads the values of a record one after another.
class Values {
 public:
  Values(const tc_record& record, const std::byte* words) : record_(record), words_(words) {}

  // False if they need more room than the record has.
  bool read(const Arguments& types, Event& event) {
    event.args.resize(record_.arg_count);
    for (size_t i = 0; i < event.args.size(); ++i) {
      const bool is_string = i < types.size() && types[i].is_string;
      const size_t words = is_string ? TC_STR_LEN / sizeof(uint64_t) : 1;
      if (at_ + words > record_.arg_room) return false;
      if (record_.arg_valid >> i & 1)
        event.args[i] = is_string ? string_into(event.strings) : number();
      at_ += words;
    }
    return true;
  }

 private:
  const std::byte* here() const { return words_ + at_ * sizeof(uint64_t); }

  uint64_t number() const { return word_at(words_, at_); }

  uint64_t string_into(std::vector<std::string>& strings) const {
    const auto* bytes = reinterpret_cast<const char*>(here());
    strings.emplace_back(bytes, ::strnlen(bytes, TC_STR_LEN));
    return strings.size() - 1;
  }

  const tc_record& record_;
  const std::byte* words_;
  size_t at_ = 0;
};

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
  DecodedRecord decoded{Event{.ts_ns = record.ts_ns,
                              .epoch = record.epoch,
                              .cpu = cpu,
                              .pid = static_cast<pid_t>(record.pid),
                              .tid = static_cast<pid_t>(record.tid),
                              .comm = comm_of(record),
                              .source = source->second,
                              .args = {},
                              .strings = {}},
                        record.ring_dropped};
  const std::byte* words = bytes.data() + sizeof(tc_record);
  if (is_end(record)) decode_end(record, words, decoded.event);
  Values values{record, words + words_before(record) * sizeof(uint64_t)};
  if (!values.read(source->second->arguments, decoded.event)) return std::nullopt;
  return decoded;
}

}  // namespace tracectl
