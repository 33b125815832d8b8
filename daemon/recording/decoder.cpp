// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/recording/decoder.h"

#include <limits>
#include <utility>

namespace tracectl::recording {
namespace {

// An empty event that keeps its memory, and the thread and source, which are set anyway and seldom
// change.
Event& emptied(StreamItem& item) {
  auto* event = std::get_if<Event>(&item);
  if (!event) return item.emplace<Event>();
  event->args.clear();
  event->strings.clear();
  event->call.reset();
  event->retval.reset();
  event->duration_ns.reset();
  event->off_cpu.reset();
  event->raw_stack.reset();
  event->stack.reset();
  event->tag.clear();
  return *event;
}

}  // namespace

EventDecoder::EventDecoder(const BlockHeader& header, std::string_view records,
                           const DefinitionTables& tables)
    : header_(header), from_(records), tables_(tables), last_{.ts_ns = header.first_ns} {}

EventDecoder::Next EventDecoder::next(StreamItem& item) {
  while (!from_.at_end()) {
    ByteReader record(from_.text());
    const uint64_t head = record.varint();
    if (from_.failed() || record.failed()) return Next::malformed;
    const uint64_t kind = head & kRecordKinds;
    if (kind > static_cast<uint64_t>(RecordKind::lost)) {
      ++skipped_;
      continue;
    }
    if (static_cast<RecordKind>(kind) == RecordKind::lost)
      return read_lost(record, item.emplace<Lost>()) ? Next::item : Next::malformed;
    return read_event(head, record, emptied(item)) ? Next::item : Next::malformed;
  }
  return from_.failed() ? Next::malformed : Next::end;
}

bool EventDecoder::read_lost(ByteReader& from, Lost& lost) {
  last_.ts_ns = lost.ts_ns = after_way(last_.ts_ns, from.varint());
  lost.count = from.varint();
  const uint64_t cause = from.varint();
  if (from.failed() || cause > static_cast<uint64_t>(LossCause::held_full)) return false;
  lost.cause = static_cast<LossCause>(cause);
  if (header_.cpu != BlockHeader::kNoCpu) lost.cpu = header_.cpu;
  return true;
}

bool EventDecoder::read_event(uint64_t head, ByteReader& from, Event& event) {
  static constexpr EventKind kKinds[] = {EventKind::hit, EventKind::returned, EventKind::unwound,
                                         EventKind::latency};
  event.kind = kKinds[head & kRecordKinds];
  event.cpu = header_.cpu;
  last_.ts_ns = event.ts_ns = after_way(last_.ts_ns, from.varint());
  if (head & kHasThread) {
    last_.thread = from.varint();
    thread_ = tables_.thread(last_.thread);
  }
  if (head & kHasSource) {
    last_.source = from.varint();
    source_ = tables_.source(last_.source);
  }
  if (head & kHasEpoch) last_.epoch = from.varint();
  if (from.failed() || !thread_ || !source_) return false;
  event.epoch = last_.epoch;
  event.pid = thread_->pid;
  event.tid = thread_->tid;
  if (event.comm != thread_->comm) event.comm = thread_->comm;
  if (event.source != source_) event.source = source_;
  return read_parts(head, from, event) && read_arguments(head, from, event) &&
         (!(head & kHasResultText) || read_result_text(from, event));
}

bool EventDecoder::read_parts(uint64_t head, ByteReader& from, Event& event) {
  if (head & kHasCall) {
    last_.call = after_way(last_.call, from.varint());
    last_.depth = after_way(last_.depth, from.varint());
    if (!std::in_range<uint32_t>(last_.call) || !std::in_range<uint32_t>(last_.depth)) return false;
    event.call = CallMark{static_cast<uint32_t>(last_.call), static_cast<uint32_t>(last_.depth)};
  }
  if (head & kHasDuration) event.duration_ns = from.varint();
  if (head & kHasOffCpu) {
    OffCpu& parts = event.off_cpu.emplace();
    parts.runnable_ns = from.varint();
    parts.blocked_ns = from.varint();
  }
  if (head & kHasResult) read_result(from, event);
  if (head & kHasStack) {
    event.stack = tables_.stack(from.varint());
    if (!event.stack) return false;
  }
  if (head & kHasTag) {
    const std::string* tag = tables_.text(from.varint());
    if (!tag) return false;
    event.tag = *tag;
  }
  return !from.failed();
}

void EventDecoder::read_result(ByteReader& from, Event& event) {
  const auto bits = static_cast<uint64_t>(unzigzag(from.varint()));
  const auto& type = source_->result;
  if (!type || (is_readable(*type) && !type->is_string)) event.retval = bits;
}

bool EventDecoder::read_result_text(ByteReader& from, Event& event) {
  if (!source_->result || !source_->result->is_string) return false;
  event.retval = event.strings.size();
  event.strings.emplace_back(from.text());
  return !from.failed();
}

bool EventDecoder::read_arguments(uint64_t head, ByteReader& from, Event& event) {
  const Arguments& types = event.source->arguments;
  const uint64_t missing = head & kHasMissing ? from.varint() : 0;
  const uint64_t count = head & kHasCount ? from.varint() : types.size();
  if (from.failed() || count > kMostArguments) return false;
  uint64_t* const last = last_.arguments.of(last_.source, count);
  static const Argument kUntyped;
  for (size_t i = 0; i < count; ++i) {
    if (missing >> i & 1)
      event.args.push_back(std::nullopt);
    else if (!read_argument(from, i < types.size() ? types[i] : kUntyped, last[i], event))
      return false;
  }
  return true;
}

bool EventDecoder::read_argument(ByteReader& from, const Argument& type, uint64_t& last,
                                 Event& event) {
  if (type.is_string) {
    event.args.push_back(event.strings.size());
    event.strings.emplace_back(from.text());
  } else {
    event.args.push_back(last = after_way(last, from.varint()));
  }
  return !from.failed();
}

}  // namespace tracectl::recording
