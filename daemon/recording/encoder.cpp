// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/recording/encoder.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace tracectl::recording {
namespace {

RecordKind kind_of(EventKind kind) {
  switch (kind) {
    case EventKind::hit: return RecordKind::hit;
    case EventKind::returned: return RecordKind::returned;
    case EventKind::unwound: return RecordKind::unwound;
    case EventKind::latency: return RecordKind::latency;
  }
  return RecordKind::hit;
}

size_t count_of(const Event& event) { return std::min(event.args.size(), kMostArguments); }

uint64_t missing_of(const Event& event) {
  uint64_t missing = 0;
  for (size_t i = 0; i < count_of(event); ++i)
    if (!event.args[i]) missing |= uint64_t{1} << i;
  return missing;
}

// Of a record of an event, but its arguments.
constexpr size_t kMostMembers = 16;

bool is_text(const Event& event, size_t i) {
  const Arguments& types = event.source->arguments;
  return i < types.size() && types[i].is_string;
}

std::string_view text_at(const Event& event, uint64_t index) {
  return index < event.strings.size() ? std::string_view(event.strings[index]) : "";
}

size_t most_bytes_of(const Event& event) {
  const size_t count = count_of(event);
  size_t bytes = (kMostMembers + count) * kMostVarintBytes;
  if (event.strings.empty()) return bytes;
  for (size_t i = 0; i < count; ++i)
    if (event.args[i] && is_text(event, i)) bytes += text_at(event, *event.args[i]).size();
  return bytes;
}

void write_call(PlaceWriter& to, const CallMark& call, LastValues& last) {
  to.varint(coded_way(last.call, call.number));
  to.varint(coded_way(last.depth, call.depth));
  last.call = call.number;
  last.depth = call.depth;
}

void write_arguments(PlaceWriter& to, const Event& event, uint64_t* last) {
  const size_t count = count_of(event);
  for (size_t i = 0; i < count; ++i) {
    if (!event.args[i]) continue;
    if (is_text(event, i)) {
      to.text(text_at(event, *event.args[i]));
      continue;
    }
    to.varint(coded_way(last[i], *event.args[i]));
    last[i] = *event.args[i];
  }
}

}  // namespace

void Encoder::add(const StreamItem& item) {
  if (const auto* event = std::get_if<Event>(&item))
    add_event(*event);
  else
    add_lost(std::get<Lost>(item));
}

void Encoder::add_event(const Event& event) {
  Open& open = open_block(static_cast<uint16_t>(event.cpu), event.ts_ns);
  PlaceWriter to = open.records.begin(most_bytes_of(event));
  write(to, event, open.last);
  open.records.end(to);
  ++open.block.events;
  added(open, event.ts_ns);
}

void Encoder::add_lost(const Lost& lost) {
  const uint16_t cpu = lost.cpu ? static_cast<uint16_t>(*lost.cpu) : BlockHeader::kNoCpu;
  Open& open = open_block(cpu, lost.ts_ns);
  PlaceWriter to = open.records.begin(kMostMembers * kMostVarintBytes);
  to.varint(static_cast<uint64_t>(RecordKind::lost));
  to.varint(coded_way(open.last.ts_ns, lost.ts_ns));
  to.varint(lost.count);
  to.varint(static_cast<uint64_t>(lost.cause));
  open.records.end(to);
  open.block.lost += lost.count;
  added(open, lost.ts_ns);
}

Encoder::Open& Encoder::open_block(uint16_t cpu, uint64_t ts_ns) {
  Open& open = open_[cpu];
  if (open.block.header.records == 0) {
    open.block.header.cpu = cpu;
    open.block.header.first_ns = ts_ns;
    open.last.ts_ns = ts_ns;
  }
  return open;
}

// ---- a record ----

uint64_t Encoder::head_of(const Event& event, uint64_t missing, const LastValues& last) {
  uint64_t head = static_cast<uint64_t>(kind_of(event.kind));
  if (definitions_.thread(event) != last.thread) head |= kHasThread;
  if (definitions_.source(event.source) != last.source) head |= kHasSource;
  if (event.call) head |= kHasCall;
  if (event.duration_ns) head |= kHasDuration;
  if (event.epoch != last.epoch) head |= kHasEpoch;
  if (event.stack) head |= kHasStack;
  if (!event.tag.empty()) head |= kHasTag;
  if (missing) head |= kHasMissing;
  if (event.retval) head |= kHasResult;
  if (count_of(event) != event.source->arguments.size()) head |= kHasCount;
  return head;
}

void Encoder::write(PlaceWriter& to, const Event& event, LastValues& last) {
  const uint64_t missing = missing_of(event);
  const uint64_t head = head_of(event, missing, last);
  to.varint(head);
  to.varint(coded_way(last.ts_ns, event.ts_ns));
  if (head & kHasThread) to.varint(last.thread = definitions_.thread(event));
  if (head & kHasSource) to.varint(last.source = definitions_.source(event.source));
  if (head & kHasEpoch) to.varint(last.epoch = event.epoch);
  if (event.call) write_call(to, *event.call, last);
  if (event.duration_ns) to.varint(*event.duration_ns);
  if (event.retval) to.varint(zigzag(static_cast<int64_t>(*event.retval)));
  if (event.stack) to.varint(definitions_.stack(*event.stack));
  if (head & kHasTag) to.varint(definitions_.text(event.tag));
  if (missing) to.varint(missing);
  const size_t count = count_of(event);
  if (head & kHasCount) to.varint(count);
  write_arguments(to, event, last.arguments.of(last.source, count));
}

// ---- blocks ----

void Encoder::added(Open& open, uint64_t ts_ns) {
  ++open.block.header.records;
  open.block.header.last_ns = std::max(open.block.header.last_ns, ts_ns);
  open.last.ts_ns = ts_ns;
  if (open.records.size() >= kBlockBytes) end(open);
}

void Encoder::end(Open& open) {
  for (Block& block : definitions_.take()) ended_.push_back(std::move(block));
  open.block.records = open.records.take();
  ended_.push_back(std::exchange(open.block, Block{}));
  open.last = LastValues{};
}

void Encoder::end_older(uint64_t ts_ns) {
  for (auto& [cpu, open] : open_)
    if (open.block.header.records && open.block.header.first_ns < ts_ns) end(open);
}

std::vector<Block> Encoder::take() { return std::exchange(ended_, {}); }

}  // namespace tracectl::recording
