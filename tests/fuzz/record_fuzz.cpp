// SPDX-License-Identifier: BSD-2-Clause
//
// Input: records of a ring; a decoded one has no more than fits into its bytes.
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>

#include "bpf/abi.h"
#include "daemon/stream/decoder.h"

using namespace tracectl;

namespace {

void must(bool promise) {
  if (!promise) std::abort();
}

// Source 1 has members of any probe, source 2 a string between numbers, and a stack.
const Sources& sources() {
  static const Sources all = [] {
    Argument number, string;
    string.is_string = true;
    EventSource plain{"p", "s", {number, number}};
    EventSource rich{"p", "s", {number, string, number}, std::nullopt, 20};
    return Sources{{1, std::make_shared<const EventSource>(plain)},
                   {2, std::make_shared<const EventSource>(rich)}};
  }();
  return all;
}

void check(const DecodedRecord& decoded, size_t size) {
  const Event& event = decoded.event;
  must(event.source != nullptr && event.args.size() <= TC_MAX_VALUES);
  must(event.args.size() * 8 <= size && event.comm.size() <= TC_COMM_LEN);
  for (const std::string& string : event.strings) must(string.size() <= TC_STR_LEN);
  if (!event.raw_stack) return;
  must(event.raw_stack->addresses.size() * 8 <= size && event.raw_stack->bytes.size() <= size);
}

// A hit that is decoded without an Event is equal to the Event.
void check_plain(std::span<const std::byte> record) {
  PlainHit hit;
  KnownSource last;
  const auto marks = decode_plain_hit(hit, record, 0, sources(), last);
  if (!marks) return;
  const auto decoded = decode_record(record, 0, sources());
  must(decoded && decoded->event.ts_ns == hit.ts_ns && decoded->event.source == *hit.source);
  must(decoded->event.args.size() == hit.arg_count && decoded->ring_dropped == marks->ring_dropped);
  for (size_t i = 0; i < hit.arg_count; ++i)
    must(!decoded->event.args[i] ||
         (hit.readable >> i & 1 && *decoded->event.args[i] == hit.args[i]));
}

// Each record is within the buffer, after the one before.
void check_kept(const KeptRecords& kept, std::span<const std::byte> record) {
  const std::byte* end = record.data();
  for (const WaitedRecord& waited : kept.records) {
    must(waited.bytes.size() >= sizeof(tc_record) && waited.bytes.data() >= end);
    end = waited.bytes.data() + waited.bytes.size();
    if (const auto decoded = decode_record(waited.bytes, waited.cpu, sources()))
      check(*decoded, waited.bytes.size());
  }
  must(end <= record.data() + record.size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto record = std::as_bytes(std::span(data, size));
  if (const auto decoded = decode_record(record, 0, sources())) check(*decoded, size);
  check_plain(record);
  if (const auto kept = decode_kept(record)) check_kept(*kept, record);
  if (const auto stack = decode_key_stack(record)) {
    must(!stack->addresses.empty() && stack->addresses.size() <= TC_MOST_FRAMES);
    must(!decode_record(record, 0, sources()));
  }
  return 0;
}
