// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/stream/decoder.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "bpf/abi.h"
#include "daemon/base/hex.h"
#include "daemon/model/value.h"
#include "daemon/stream/syscall_sources.h"

namespace tracectl {
namespace {

bool is_end(const tc_record& record) {
  return record.kind == TC_RECORD_RETURN || record.kind == TC_RECORD_UNWOUND ||
         record.kind == TC_RECORD_LATENCY || record.kind == TC_RECORD_SYSCALL;
}

// The number of words before the values.
size_t words_before(const tc_record& record) {
  if (is_end(record)) {
    const size_t split = record.flags & TC_RECORD_SPLIT ? sizeof(tc_split) : 0;
    return (sizeof(tc_end) + split) / sizeof(uint64_t);
  }
  return record.flags & TC_RECORD_CALL ? 1 : 0;
}

size_t size_of(const tc_record& record) {
  return sizeof(tc_record) + (words_before(record) + record.arg_room + record.stack_words) * 8u;
}

bool is_sound(const tc_record& record, size_t length) {
  return (record.kind == TC_RECORD_HIT || is_end(record)) && record.arg_count <= TC_MAX_VALUES &&
         record.arg_count <= record.arg_room && record.arg_room <= TC_MAX_RECORD_WORDS &&
         length >= size_of(record);
}

uint64_t word_at(const std::byte* words, size_t index) {
  uint64_t word = 0;
  std::memcpy(&word, words + index * sizeof(word), sizeof(word));
  return word;
}

CallMark call_of(uint64_t word) {
  return {.number = static_cast<uint32_t>(word), .depth = static_cast<uint32_t>(word >> 32)};
}

// The record has the register, whatever the function returns.
bool is_in_register(const std::optional<Argument>& result) {
  return !result || result->place == Argument::Place::in_register;
}

// A struct becomes a text of the event.
void read_result(const tc_end& end, Event& event) {
  const auto& result = event.source->result;
  if (!is_in_register(result)) return;
  event.retval = end.retval;
  if (!result || !result->members) return;
  event.retval = event.strings.size();
  event.strings.push_back(members_text(*result->members, {end.retval, end.second_retval}));
}

// The record's source is the function in whose call the system call was made.
std::shared_ptr<const EventSource> source_of_syscall(const Event& event, const tc_end& end) {
  static SyscallSources sources;
  return sources.of(event.source->session, end.second_retval);
}

std::optional<OffCpu> read_split(const std::byte* words) {
  tc_split split;
  std::memcpy(&split, words, sizeof(split));
  if (split.blocked_ns == UINT64_MAX) return std::nullopt;
  return OffCpu{.runnable_ns = split.runnable_ns, .blocked_ns = split.blocked_ns};
}

void decode_end(const tc_record& record, const std::byte* words, Event& event) {
  event.kind = record.kind == TC_RECORD_RETURN || record.kind == TC_RECORD_SYSCALL
                   ? EventKind::returned
               : record.kind == TC_RECORD_LATENCY ? EventKind::latency
                                                  : EventKind::unwound;
  tc_end end;
  std::memcpy(&end, words, sizeof(end));
  if (record.kind == TC_RECORD_SYSCALL) event.source = source_of_syscall(event, end);
  if (record.flags & TC_RECORD_HAS_RETVAL) read_result(end, event);
  event.duration_ns = end.duration_ns;
  if (record.flags & TC_RECORD_SPLIT) event.off_cpu = read_split(words + sizeof(end));
  if (record.flags & TC_RECORD_CALL) event.call = call_of(end.call);
}

std::string_view comm_of(const tc_record& record) {
  return {record.comm, ::strnlen(record.comm, TC_COMM_LEN)};
}

// Decodes everything that does not depend on the kind. Most events have the same thread and probe
// as the one before.
void decode_head(const tc_record& record, unsigned cpu,
                 const std::shared_ptr<const EventSource>& source, Event& event) {
  event.kind = EventKind::hit;
  event.ts_ns = record.ts_ns;
  event.epoch = record.epoch;
  event.cpu = cpu;
  event.pid = static_cast<pid_t>(record.pid);
  event.tid = static_cast<pid_t>(record.tid);
  if (const auto comm = comm_of(record); event.comm != comm) event.comm = comm;
  if (event.source != source) event.source = source;
  event.strings.clear();
  event.call.reset();
  event.retval.reset();
  event.duration_ns.reset();
  event.off_cpu.reset();
  event.raw_stack.reset();
  event.stack.reset();
  event.tag.clear();
}

// Reads the values of a record in order.
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
      if (!(record_.arg_valid >> i & 1))
        event.args[i].reset();
      else
        event.args[i] = is_string ? string_into(event.strings, types[i].byte_count) : number();
      at_ += words;
    }
    cut_to_lengths(types, event);
    return true;
  }

 private:
  const std::byte* here() const { return words_ + at_ * sizeof(uint64_t); }

  uint64_t number() const { return word_at(words_, at_); }

  uint64_t string_into(std::vector<std::string>& strings, size_t byte_count) const {
    const auto* bytes = reinterpret_cast<const char*>(here());
    if (byte_count > 0)
      strings.push_back(hex_of(std::string_view{bytes, std::min<size_t>(byte_count, TC_STR_LEN)}));
    else
      strings.emplace_back(bytes, ::strnlen(bytes, TC_STR_LEN));
    return strings.size() - 1;
  }

  // Cuts texts that have a length to it. A text of length 0 may be anywhere, readable or not.
  static void cut_to_lengths(const Arguments& types, Event& event) {
    for (size_t i = 0; i + 1 < event.args.size() && i + 1 < types.size(); ++i)
      if (types[i].is_string && types[i].length_behind)
        cut(event.args[i], event.args[i + 1], event.strings);
  }

  static void cut(Value& text, const Value& length, std::vector<std::string>& strings) {
    if (!length) return text.reset();
    if (!text && *length == 0) {
      text = strings.size();
      strings.emplace_back();
    }
    if (text && *length < strings[*text].size()) strings[*text].resize(*length);
  }

  const tc_record& record_;
  const std::byte* words_;
  size_t at_ = 0;
};

constexpr StackEnd kWalkEnds[] = {StackEnd::outermost, StackEnd::limit, StackEnd::unreadable,
                                  StackEnd::bad_frame_pointer};

std::shared_ptr<const RawStack> frames_of(std::span<const std::byte> bytes) {
  tc_frames head;
  if (bytes.size() < sizeof(head)) return nullptr;
  std::memcpy(&head, bytes.data(), sizeof(head));
  const auto words = bytes.subspan(sizeof(head));
  if (head.count == 0 || head.count > words.size() / 8 || head.end >= std::size(kWalkEnds))
    return nullptr;
  auto stack = std::make_shared<RawStack>();
  stack->image = head.image;
  stack->end = kWalkEnds[head.end];
  stack->addresses.resize(head.count);
  std::memcpy(stack->addresses.data(), words.data(), size_t{head.count} * 8);
  return stack;
}

std::shared_ptr<const RawStack> copy_of(std::span<const std::byte> bytes, unsigned most_frames) {
  constexpr size_t kHead = offsetof(tc_stack_copy, bytes);
  if (bytes.size() < kHead) return nullptr;
  tc_stack_copy head;
  std::memcpy(&head, bytes.data(), kHead);
  const auto copied = bytes.subspan(kHead);
  if (head.byte_count > copied.size()) return nullptr;
  auto stack = std::make_shared<RawStack>();
  stack->image = head.image;
  stack->most_frames = std::clamp(most_frames, 1u, kMostFrames);
  std::copy(std::begin(head.registers), std::end(head.registers), stack->registers.begin());
  stack->start = head.start;
  stack->bytes.assign(copied.begin(), copied.begin() + static_cast<ptrdiff_t>(head.byte_count));
  return stack;
}

// False if the record has an invalid stack.
bool read_stack(const tc_record& record, std::span<const std::byte> bytes, Event& event) {
  const auto part =
      bytes.subspan(sizeof(tc_record) + record.arg_room * 8u, record.stack_words * 8u);
  const unsigned kind = record.flags & (TC_RECORD_FRAMES | TC_RECORD_STACK_COPY);
  if (!kind) return record.stack_words == 0;
  if (kind == TC_RECORD_FRAMES) event.raw_stack = frames_of(part);
  if (kind == TC_RECORD_STACK_COPY) event.raw_stack = copy_of(part, event.source->most_frames);
  return event.raw_stack != nullptr;
}

bool has_numbers_only(uint32_t id, const Sources& sources, KnownSource& last) {
  if (last.source && last.id == id) return last.has_numbers_only;
  const auto found = sources.find(id);
  if (found == sources.end()) return false;
  const Arguments& types = found->second->arguments;
  last = {id, &found->second,
          std::none_of(types.begin(), types.end(), [](const Argument& a) { return a.is_string; })};
  return last.has_numbers_only;
}

}  // namespace

StackEnd end_of_walk(uint32_t end) {
  return end < std::size(kWalkEnds) ? kWalkEnds[end] : StackEnd::unreadable;
}

std::optional<StackAddresses> decode_key_stack(std::span<const std::byte> bytes) {
  if (bytes.size() < sizeof(tc_record)) return std::nullopt;
  tc_record record;
  std::memcpy(&record, bytes.data(), sizeof(record));
  if (record.kind != TC_RECORD_KEY_STACK) return std::nullopt;
  const auto stack = frames_of(bytes.subspan(sizeof(record)));
  if (!stack || stack->addresses.size() > TC_MOST_FRAMES) return std::nullopt;
  return StackAddresses{.pid = static_cast<pid_t>(record.pid),
                        .image = stack->image,
                        .end = stack->end,
                        .addresses = stack->addresses};
}

std::optional<KeptRecords> decode_kept(std::span<const std::byte> bytes) {
  constexpr size_t kHead = offsetof(tc_kept, bytes);
  tc_record head;
  if (bytes.size() < kHead) return std::nullopt;
  std::memcpy(&head, bytes.data(), sizeof(head));
  if (head.kind != TC_RECORD_KEPT) return std::nullopt;
  const uint64_t byte_count = word_at(bytes.data(), offsetof(tc_kept, byte_count) / 8);
  KeptRecords kept{.records = {},
                   .ring_dropped = head.ring_dropped,
                   .lost = word_at(bytes.data(), offsetof(tc_kept, lost) / 8),
                   .ts_ns = head.ts_ns};
  if (byte_count > bytes.size() - kHead) return std::nullopt;
  for (auto rest = bytes.subspan(kHead, byte_count); !rest.empty();) {
    tc_record record;
    if (rest.size() < sizeof(record)) return std::nullopt;
    std::memcpy(&record, rest.data(), sizeof(record));
    if (!is_sound(record, rest.size())) return std::nullopt;
    kept.records.push_back(
        {rest.first(size_of(record)), static_cast<unsigned>(record.ring_dropped)});
    rest = rest.subspan(size_of(record));
  }
  return kept;
}

std::optional<PlainRecord> look_at_plain_record(std::span<const std::byte> bytes) {
  if (bytes.size() < sizeof(tc_record)) return std::nullopt;
  const auto& record = *reinterpret_cast<const tc_record*>(bytes.data());
  if (record.kind == TC_RECORD_KEY_STACK || record.kind == TC_RECORD_KEPT || record.stack_words > 0)
    return std::nullopt;
  return PlainRecord{record.ts_ns, record.ring_dropped};
}

std::optional<RecordMarks> decode_record_into(Event& event, std::span<const std::byte> bytes,
                                              unsigned cpu, const Sources& sources) {
  if (bytes.size() < sizeof(tc_record)) return std::nullopt;
  alignas(tc_record) std::byte copy[sizeof(tc_record)];
  std::memcpy(copy, bytes.data(), sizeof(copy));
  const auto& record = *reinterpret_cast<const tc_record*>(copy);
  if (!is_sound(record, bytes.size())) return std::nullopt;
  const auto source = sources.find(record.source);
  if (source == sources.end()) return std::nullopt;
  decode_head(record, cpu, source->second, event);
  const std::byte* words = bytes.data() + sizeof(tc_record);
  if (is_end(record))
    decode_end(record, words, event);
  else if (record.flags & TC_RECORD_CALL)
    event.call = call_of(word_at(words, 0));
  Values values{record, words + words_before(record) * sizeof(uint64_t)};
  if (!values.read(source->second->arguments, event)) return std::nullopt;
  if (!read_stack(record, bytes, event)) return std::nullopt;
  return RecordMarks{record.ring_dropped, record.tag};
}

std::optional<RecordMarks> decode_plain_hit(PlainHit& hit, std::span<const std::byte> bytes,
                                            unsigned cpu, const Sources& sources,
                                            KnownSource& last) {
  if (bytes.size() < sizeof(tc_record)) return std::nullopt;
  const auto& record = *reinterpret_cast<const tc_record*>(bytes.data());
  if (record.kind != TC_RECORD_HIT || record.flags || record.stack_words || record.tag)
    return std::nullopt;
  if (!is_sound(record, bytes.size()) || !has_numbers_only(record.source, sources, last))
    return std::nullopt;
  hit.ts_ns = record.ts_ns;
  hit.epoch = record.epoch;
  hit.cpu = cpu;
  hit.pid = static_cast<pid_t>(record.pid);
  hit.tid = static_cast<pid_t>(record.tid);
  static_assert(RawComm::kBytes == sizeof(record.comm));
  std::memcpy(hit.comm.words, record.comm, sizeof(record.comm));
  hit.source = last.source;
  hit.readable = record.arg_valid;
  hit.arg_count = record.arg_count;
  static_assert(PlainHit::kMostArguments >= TC_MAX_VALUES);
  for (size_t i = 0; i < hit.arg_count; ++i)
    hit.args[i] = word_at(bytes.data() + sizeof(tc_record), i);
  return RecordMarks{record.ring_dropped, 0};
}

std::optional<DecodedRecord> decode_record(std::span<const std::byte> bytes, unsigned cpu,
                                           const Sources& sources) {
  DecodedRecord decoded;
  const auto marks = decode_record_into(decoded.event, bytes, cpu, sources);
  if (!marks) return std::nullopt;
  static_cast<RecordMarks&>(decoded) = *marks;
  return decoded;
}

}  // namespace tracectl
