// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/recording/encoder.h"

#include <algorithm>
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

}  // namespace

void Encoder::add(const StreamItem& item) {
  if (const auto* event = std::get_if<Event>(&item)) {
    Open& open = open_block(static_cast<uint16_t>(event->cpu), event->ts_ns);
    event_body(*event, open.last);
    return put(open, event->ts_ns, true, 0);
  }
  const Lost& lost = std::get<Lost>(item);
  const uint16_t cpu = lost.cpu ? static_cast<uint16_t>(*lost.cpu) : BlockHeader::kNoCpu;
  Open& open = open_block(cpu, lost.ts_ns);
  body_.clear();
  ByteWriter to(body_);
  to.varint(static_cast<uint64_t>(RecordKind::lost));
  to.varint(coded_way(open.last.ts_ns, lost.ts_ns));
  to.varint(lost.count);
  to.varint(static_cast<uint64_t>(lost.cause));
  put(open, lost.ts_ns, false, lost.count);
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

void Encoder::event_body(const Event& event, LastValues& last) {
  const uint64_t thread = definitions_.thread(event);
  const uint64_t source = definitions_.source(event.source);
  const size_t count = count_of(event);
  const uint64_t missing = missing_of(event);
  uint64_t head = static_cast<uint64_t>(kind_of(event.kind));
  if (thread != last.thread) head |= kHasThread;
  if (source != last.source) head |= kHasSource;
  if (event.call) head |= kHasCall;
  if (event.duration_ns) head |= kHasDuration;
  if (event.epoch != last.epoch) head |= kHasEpoch;
  if (event.stack) head |= kHasStack;
  if (!event.tag.empty()) head |= kHasTag;
  if (missing) head |= kHasMissing;
  if (event.retval) head |= kHasResult;
  if (count != event.source->arguments.size()) head |= kHasCount;

  body_.clear();
  ByteWriter to(body_);
  to.varint(head);
  to.varint(coded_way(last.ts_ns, event.ts_ns));
  if (head & kHasThread) to.varint(last.thread = thread);
  if (head & kHasSource) to.varint(last.source = source);
  if (head & kHasEpoch) to.varint(last.epoch = event.epoch);
  if (event.call) {
    to.varint(coded_way(last.call, event.call->number));
    to.varint(coded_way(last.depth, event.call->depth));
    last.call = event.call->number;
    last.depth = event.call->depth;
  }
  if (event.duration_ns) to.varint(*event.duration_ns);
  if (event.retval) to.varint(zigzag(static_cast<int64_t>(*event.retval)));
  if (event.stack) to.varint(definitions_.stack(*event.stack));
  if (head & kHasTag) to.varint(definitions_.text(event.tag));
  if (missing) to.varint(missing);
  if (head & kHasCount) to.varint(count);
  arguments(to, event, last.arguments[source]);
}

void Encoder::arguments(ByteWriter& to, const Event& event, std::vector<uint64_t>& last) {
  const size_t count = count_of(event);
  if (last.size() < count) last.resize(count);
  const Arguments& types = event.source->arguments;
  for (size_t i = 0; i < count; ++i) {
    if (!event.args[i]) continue;
    if (i < types.size() && types[i].is_string) {
      static const std::string kNone;
      to.text(*event.args[i] < event.strings.size() ? event.strings[*event.args[i]] : kNone);
      continue;
    }
    to.varint(coded_way(last[i], *event.args[i]));
    last[i] = *event.args[i];
  }
}

// ---- blocks ----

void Encoder::put(Open& open, uint64_t ts_ns, bool is_event, uint64_t lost) {
  const size_t size = open.block.records.size();
  ByteWriter(open.block.records).text(body_);
  open_bytes_ += open.block.records.size() - size;
  ++open.block.header.records;
  open.block.events += is_event;
  open.block.lost += lost;
  open.block.header.last_ns = std::max(open.block.header.last_ns, ts_ns);
  open.last.ts_ns = ts_ns;
  if (open.block.records.size() >= kBlockBytes) end(open);
}

void Encoder::end(Open& open) {
  for (Block& block : definitions_.take()) ended_.push_back(std::move(block));
  open_bytes_ -= open.block.records.size();
  ended_.push_back(std::exchange(open.block, Block{}));
  open.last = LastValues{};
}

void Encoder::end_older(uint64_t ts_ns) {
  for (auto& [cpu, open] : open_)
    if (open.block.header.records && open.block.header.first_ns < ts_ns) end(open);
}

std::vector<Block> Encoder::take() { return std::exchange(ended_, {}); }

}  // namespace tracectl::recording
