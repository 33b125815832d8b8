// SPDX-License-Identifier: BSD-2-Clause
#include <algorithm>
#include <limits>
#include <utility>

#include "daemon/model/stack_bytes.h"
#include "daemon/recording/decoder.h"

namespace tracectl::recording {
namespace {

constexpr size_t kMostEnumerators = 1 << 16;
constexpr size_t kOfAnEntry = 64;  // approximate overhead of a table's entry

template <class Table> auto* found_in(const Table& table, uint64_t number) {
  const auto found = table.find(number);
  return found == table.end() ? nullptr : &found->second;
}

bool is_size(uint64_t bytes) { return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8; }

bool is_id(uint32_t id) { return std::in_range<pid_t>(id); }

}  // namespace

bool DefinitionTables::add(std::string_view records) {
  ByteReader from(records);
  bool is_whole = true;
  while (!from.at_end()) {
    ByteReader record(from.text());
    if (from.failed()) return false;
    is_whole &= add_record(record);
  }
  return is_whole;
}

bool DefinitionTables::add_record(ByteReader& from) {
  const uint64_t kind = from.varint();
  const uint64_t number = from.varint();
  if (from.failed() || number == 0) return false;
  switch (static_cast<DefinitionKind>(kind)) {
    case DefinitionKind::text: return add_text(number, from.rest());
    case DefinitionKind::source: return add_source(number, from);
    case DefinitionKind::thread: return add_thread(number, from);
    case DefinitionKind::frame: return add_frame(number, from);
    case DefinitionKind::stack: return add_stack(number, from);
    case DefinitionKind::reason: return add_reason(from.rest());
  }
  return true;  // of a kind of a later version
}

bool DefinitionTables::take(size_t bytes) {
  used_bytes_ += bytes + kOfAnEntry;
  return used_bytes_ <= kMostBytes;
}

bool DefinitionTables::add_text(uint64_t number, std::string_view text) {
  cut_ += text.size() > kMostTextBytes;
  text = text.substr(0, kMostTextBytes);
  if (!take(text.size())) return false;
  texts_.emplace(number, text);
  return true;
}

bool DefinitionTables::add_reason(std::string_view text) {
  reason_ = text.substr(0, kMostReasonBytes);
  return true;
}

bool DefinitionTables::read_text(ByteReader& from, std::string& to) {
  const std::string* text = this->text(from.varint());
  if (from.failed() || !text || !take(text->size())) return false;
  to = *text;
  return true;
}

bool DefinitionTables::add_source(uint64_t number, ByteReader& from) {
  EventSource source;
  if (!read_text(from, source.probe) || !read_text(from, source.session)) return false;
  const uint64_t count = from.varint();
  if (from.failed() || count > kMostArguments) return false;
  source.arguments.resize(count);
  for (Argument& argument : source.arguments)
    if (!read_argument(from, argument)) return false;
  const bool has_result = from.varint() != 0;
  if (has_result && !read_argument(from, source.result.emplace())) return false;
  if (from.failed()) return false;
  sources_.emplace(number, std::make_shared<const EventSource>(std::move(source)));
  return true;
}

bool DefinitionTables::read_argument(ByteReader& from, Argument& to) {
  ByteReader in(from.text());
  const uint64_t kind = in.varint();
  const uint64_t size = in.varint();
  const uint64_t bits = in.varint();
  to.byte_count = in.small<uint8_t>();
  if (from.failed() || in.failed() || !is_size(size)) return false;
  if (kind > static_cast<uint64_t>(Argument::Kind::aggregate)) return false;
  to.kind = static_cast<Argument::Kind>(kind);
  to.size_bytes = static_cast<uint8_t>(size);
  to.is_signed = bits & 1;
  to.is_float = bits & 2;
  to.is_string = bits & 4;
  to.is_shown_as_text = bits & 8;
  if (!read_text(in, to.name) || !read_text(in, to.declared_type)) return false;
  return read_enumerators(in, to) && read_place(in, to);
}

bool DefinitionTables::read_enumerators(ByteReader& in, Argument& to) {
  const uint64_t count = in.varint();
  if (in.failed() || count > kMostEnumerators) return false;
  if (count == 0) return true;
  Enumerators named;
  for (uint64_t i = 0; i < count; ++i) {
    Enumerator& one = named.emplace_back();
    if (!read_text(in, one.name)) return false;
    one.value = unzigzag(in.varint());
    if (in.failed()) return false;
  }
  to.enumerators = std::make_shared<const Enumerators>(std::move(named));
  return true;
}

// Earlier versions recorded no places, and took the register for the result whatever the function returns: `void` and
// structs had no type then.
bool DefinitionTables::read_place(ByteReader& in, Argument& to) {
  if (in.at_end()) {
    const bool is_of_register = !to.is_float && !to.declared_type.empty();
    to.place = is_of_register ? Argument::Place::in_register : Argument::Place::unreadable;
    return true;
  }
  const uint64_t place = in.varint();
  if (!read_text(in, to.text)) return false;
  switch (static_cast<RecordedPlace>(place)) {
    case RecordedPlace::readable: to.place = Argument::Place::in_register; break;
    case RecordedPlace::nothing: to.place = Argument::Place::nothing; break;
    case RecordedPlace::as_text:
      to.place = Argument::Place::in_register;
      to.is_string = true;
      break;
    default: to.place = Argument::Place::unreadable; break;
  }
  return true;
}

bool DefinitionTables::add_thread(uint64_t number, ByteReader& from) {
  ThreadName thread;
  const auto pid = from.small<uint32_t>();
  const auto tid = from.small<uint32_t>();
  if (!read_text(from, thread.comm) || !is_id(pid) || !is_id(tid)) return false;
  thread.pid = static_cast<pid_t>(pid);
  thread.tid = static_cast<pid_t>(tid);
  threads_.emplace(number, std::move(thread));
  return true;
}

bool DefinitionTables::add_frame(uint64_t number, ByteReader& from) {
  Frame frame;
  frame.address = from.varint();
  if (!read_text(from, frame.module) || !read_text(from, frame.build_id)) return false;
  frame.offset = from.varint();
  if (!read_text(from, frame.function)) return false;
  frame.function_offset = from.varint();
  if (!read_text(from, frame.file)) return false;
  frame.line = from.small<uint32_t>();
  frame.inlined = from.varint() != 0;
  if (const uint64_t size = from.varint()) frame.size_bytes = size - 1;
  if (from.failed()) return false;
  frames_.emplace(number, std::move(frame));
  return true;
}

bool DefinitionTables::add_stack(uint64_t number, ByteReader& from) {
  const uint64_t by = from.varint();
  const uint64_t end = from.varint();
  const uint64_t count = from.varint();
  if (from.failed() || count > kMostStackFrames) return false;
  if (by > static_cast<uint64_t>(StackBy::unwind_tables)) return false;
  if (end > static_cast<uint64_t>(StackEnd::unknown_process)) return false;
  if (!take(count * sizeof(void*))) return false;
  Frames stack{static_cast<StackBy>(by), static_cast<StackEnd>(end), {}};
  for (uint64_t i = 0; i < count; ++i) {
    const Frame* frame = found_in(frames_, from.varint());
    if (from.failed() || !frame) return false;
    stack.frames.push_back(frame);
  }
  cut(stack);
  stacks_.emplace(number, std::move(stack));
  return true;
}

void DefinitionTables::cut(Frames& stack) {
  size_t bytes = 0;
  const auto too_far =
      std::find_if(stack.frames.begin(), stack.frames.end(),
                   [&](const Frame* one) { return (bytes += bytes_of(*one)) > kMostStackBytes; });
  if (too_far == stack.frames.end()) return;
  stack.frames.erase(too_far, stack.frames.end());
  stack.end = StackEnd::limit;
  ++cut_;
}

const std::string* DefinitionTables::text(uint64_t number) const {
  static const std::string kEmpty;
  return number == 0 ? &kEmpty : found_in(texts_, number);
}

std::shared_ptr<const EventSource> DefinitionTables::source(uint64_t number) const {
  const auto* source = found_in(sources_, number);
  return source ? *source : nullptr;
}

const ThreadName* DefinitionTables::thread(uint64_t number) const {
  return found_in(threads_, number);
}

size_t DefinitionTables::most_arguments() const {
  size_t most = 0;
  for (const auto& [number, source] : sources_) most = std::max(most, source->arguments.size());
  return most;
}

std::shared_ptr<const Stack> DefinitionTables::stack(uint64_t number) const {
  if (const auto* made = found_in(made_stacks_, number)) return *made;
  const Frames* found = found_in(stacks_, number);
  if (!found) return nullptr;
  Stack stack{found->by, found->end, {}};
  for (const Frame* frame : found->frames) stack.frames.push_back(*frame);
  const size_t bytes = bytes_of(stack) + kOfAnEntry;
  if (made_bytes_ + bytes > kMostMadeBytes) {
    made_stacks_.clear();
    made_bytes_ = 0;
  }
  made_bytes_ += bytes;
  return made_stacks_[number] = std::make_shared<const Stack>(std::move(stack));
}

}  // namespace tracectl::recording
