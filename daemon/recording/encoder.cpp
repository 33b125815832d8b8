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

// The most numbers in an event's record, without its arguments.
constexpr size_t kMostMembers = 16;

bool is_text(const Event& event, size_t i) {
  const Arguments& types = event.source->arguments;
  return i < types.size() && types[i].is_string;
}

std::string_view text_at(const Event& event, uint64_t index) {
  return index < event.strings.size() ? std::string_view(event.strings[index]) : "";
}

bool has_result_text(const Event& event) {
  return event.retval && event.source->result && event.source->result->is_string;
}

size_t most_bytes_of(const Event& event) {
  const size_t count = count_of(event);
  size_t bytes = (kMostMembers + count) * kMostVarintBytes;
  if (event.strings.empty()) return bytes;
  for (size_t i = 0; i < count; ++i)
    if (event.args[i] && is_text(event, i)) bytes += text_at(event, *event.args[i]).size();
  if (has_result_text(event)) bytes += text_at(event, *event.retval).size();
  return bytes;
}

// Members that every event has, mostly with the values of the event before.
struct Usual {
  uint64_t thread, source, epoch;
  uint64_t missing;  // arguments
  bool is_count_known;
};

// The kind, and bits for those members that most events do not have.
uint64_t bits_of_parts(const Event& event) {
  uint64_t head = static_cast<uint64_t>(kind_of(event.kind));
  if (event.call) head |= kHasCall;
  if (event.duration_ns) head |= kHasDuration;
  if (event.off_cpu) head |= kHasOffCpu;
  if (event.stack) head |= kHasStack;
  if (!event.tag.empty()) head |= kHasTag;
  if (event.retval) head |= has_result_text(event) ? kHasResultText : kHasResult;
  return head;
}

uint64_t bits_of_changes(const Usual& usual, const LastValues& last) {
  uint64_t head = 0;
  if (usual.thread != last.thread) head |= kHasThread;
  if (usual.source != last.source) head |= kHasSource;
  if (usual.epoch != last.epoch) head |= kHasEpoch;
  if (usual.missing) head |= kHasMissing;
  if (!usual.is_count_known) head |= kHasCount;
  return head;
}

// All records have a time; added() stores it in LastValues.
inline PlaceWriter write_head(PlaceWriter to, uint64_t head, uint64_t ts_ns, const Usual& usual,
                              LastValues& last) {
  to.varint(head);
  to.varint(coded_way(last.ts_ns, ts_ns));
  if (head & kHasThread) to.varint(last.thread = usual.thread);
  if (head & kHasSource) to.varint(last.source = usual.source);
  if (head & kHasEpoch) to.varint(last.epoch = usual.epoch);
  return to;
}

inline PlaceWriter write_way(PlaceWriter to, uint64_t& last, uint64_t value) {
  to.varint(coded_way(last, value));
  last = value;
  return to;
}

PlaceWriter write_call(PlaceWriter to, const CallMark& call, LastValues& last) {
  to = write_way(to, last.call, call.number);
  return write_way(to, last.depth, call.depth);
}

PlaceWriter write_arguments(PlaceWriter to, const Event& event, uint64_t* last) {
  const size_t count = count_of(event);
  for (size_t i = 0; i < count; ++i) {
    if (!event.args[i]) continue;
    if (is_text(event, i))
      to.text(text_at(event, *event.args[i]));
    else
      to = write_way(to, last[i], *event.args[i]);
  }
  return to;
}

}  // namespace

inline Encoder::Open& Encoder::open_block(unsigned cpu, uint64_t ts_ns) {
  if (!last_open_ || cpu != last_cpu_) {
    last_open_ = &open_[cpu];
    last_cpu_ = cpu;
  }
  Open& open = *last_open_;
  if (open.block.header.records && ts_ns < open.last.ts_ns) end(open);
  if (open.block.header.records == 0) {
    open.block.header.cpu = static_cast<uint16_t>(cpu);
    open.block.header.first_ns = ts_ns;
    open.last.ts_ns = ts_ns;
  }
  return open;
}

inline void Encoder::added(Open& open, uint64_t ts_ns, PlaceWriter record) {
  ++open.block.header.records;
  open.block.header.last_ns = open.last.ts_ns = ts_ns;
  open_bytes_ += open.records.end(record);
  if (open.records.size() >= kBlockBytes) end(open);
}

void Encoder::add(const StreamItem& item) {
  if (const auto* event = std::get_if<Event>(&item))
    add_event(*event);
  else
    add_lost(std::get<Lost>(item));
}

void Encoder::add_event(const Event& event) {
  Open& open = open_block(event.cpu, event.ts_ns);
  const PlaceWriter to = write(open.records.begin(most_bytes_of(event)), event, open);
  ++open.block.events;
  added(open, event.ts_ns, to);
}

void Encoder::add_lost(const Lost& lost) {
  Open& open = open_block(lost.cpu.value_or(BlockHeader::kNoCpu), lost.ts_ns);
  PlaceWriter to = open.records.begin(kMostMembers * kMostVarintBytes);
  to.varint(static_cast<uint64_t>(RecordKind::lost));
  to.varint(coded_way(open.last.ts_ns, lost.ts_ns));
  to.varint(lost.count);
  to.varint(static_cast<uint64_t>(lost.cause));
  open.block.lost += lost.count;
  added(open, lost.ts_ns, to);
}

void Encoder::add(const PlainHit& hit) {
  Open& open = open_block(hit.cpu, hit.ts_ns);
  const size_t most_bytes = (kMostMembers + hit.arg_count) * kMostVarintBytes;
  const PlaceWriter to = write(open.records.begin(most_bytes), hit, open);
  ++open.block.events;
  added(open, hit.ts_ns, to);
}

uint64_t Encoder::new_thread(Open& open, pid_t pid, pid_t tid, const RawComm& comm) {
  open.names.pid = pid;
  open.names.tid = tid;
  open.names.comm = comm;
  return definitions_.thread(pid, tid, comm.text());
}

uint64_t Encoder::new_source(Open& open, const std::shared_ptr<const EventSource>& source) {
  open.names.source = source;
  return definitions_.source(source);
}

// ---- records ----

PlaceWriter Encoder::write(PlaceWriter to, const Event& event, Open& open) {
  LastValues& last = open.last;
  const size_t count = count_of(event);
  const uint64_t missing = missing_of(event);
  const Usual usual{thread(open, event), source(open, event.source), event.epoch, missing,
                    count == event.source->arguments.size()};
  const uint64_t head = bits_of_parts(event) | bits_of_changes(usual, last);
  to = write_head(to, head, event.ts_ns, usual, last);
  if (event.call) to = write_call(to, *event.call, last);
  if (event.duration_ns) to.varint(*event.duration_ns);
  if (event.off_cpu) {
    to.varint(event.off_cpu->runnable_ns);
    to.varint(event.off_cpu->blocked_ns);
  }
  if (head & kHasResult) to.varint(zigzag(static_cast<int64_t>(*event.retval)));
  if (event.stack) to.varint(definitions_.stack(*event.stack));
  if (head & kHasTag) to.varint(definitions_.text(event.tag));
  if (missing) to.varint(missing);
  if (head & kHasCount) to.varint(count);
  to = write_arguments(to, event, last.arguments.of(last.source, count));
  if (head & kHasResultText) to.text(text_at(event, *event.retval));
  return to;
}

PlaceWriter Encoder::write(PlaceWriter to, const PlainHit& hit, Open& open) {
  LastValues& last = open.last;
  const size_t count = hit.arg_count;
  const uint64_t missing = ~hit.readable & ((uint64_t{1} << count) - 1);
  const Usual usual{thread(open, hit), source(open, *hit.source), hit.epoch, missing,
                    count == (*hit.source)->arguments.size()};
  const uint64_t head = static_cast<uint64_t>(RecordKind::hit) | bits_of_changes(usual, last);
  to = write_head(to, head, hit.ts_ns, usual, last);
  if (missing) to.varint(missing);
  if (head & kHasCount) to.varint(count);
  uint64_t* const values = last.arguments.of(last.source, count);
  for (size_t i = 0; i < count; ++i)
    if (!(missing >> i & 1)) to = write_way(to, values[i], hit.args[i]);
  return to;
}

// ---- blocks ----

void Encoder::end(Open& open) {
  for (Block& block : definitions_.take()) ended_.push_back(std::move(block));
  open_bytes_ -= open.records.size();
  open.block.records = open.records.take();
  ended_.push_back(std::exchange(open.block, Block{}));
  open.last = LastValues{};
  open.names = LastNames{};
}

void Encoder::end_older(uint64_t ts_ns) {
  for (auto& [cpu, open] : open_)
    if (open.block.header.records && open.block.header.first_ns < ts_ns) end(open);
}

Block block_of_loss(const Lost& lost) {
  Encoder encoder;
  encoder.add(lost);
  encoder.end_all();
  return std::move(encoder.take().front());
}

Block block_of_end(const Ending& ending, size_t bytes) {
  Block block;
  block.header.kind = BlockKind::end;
  block.header.records = 1;
  block.records = encode(ending);
  block.records.resize(std::max(block.records.size(), bytes - kBlockHeaderBytes));
  return block;
}

std::vector<Block> Encoder::take() { return std::exchange(ended_, {}); }

}  // namespace tracectl::recording
