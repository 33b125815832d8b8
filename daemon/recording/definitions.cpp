// SPDX-License-Identifier: BSD-2-Clause
#include <algorithm>
#include <utility>

#include "daemon/recording/encoder.h"

namespace tracectl::recording {
namespace {

// The flags of an Argument.
uint64_t bits_of(const Argument& argument) {
  return uint64_t{argument.is_signed} | uint64_t{argument.is_float} << 1 |
         uint64_t{argument.is_string} << 2 | uint64_t{argument.is_shown_as_text} << 3;
}

void add_definition(Block& to, DefinitionKind kind, uint64_t number, std::string_view body) {
  std::string record;
  ByteWriter in(record);
  in.varint(static_cast<uint64_t>(kind));
  in.varint(number);
  record += body;
  ByteWriter(to.records).text(record);
  ++to.header.records;
}

// A struct in registers is the only readable one of its kind.
bool is_struct_as_text(const Argument& argument) {
  return argument.kind == Argument::Kind::aggregate && is_readable(argument);
}

RecordedPlace recorded_place_of(const Argument& argument) {
  if (is_struct_as_text(argument)) return RecordedPlace::as_text;
  if (is_readable(argument)) return RecordedPlace::readable;
  return argument.place == Argument::Place::nothing ? RecordedPlace::nothing
                                                    : RecordedPlace::unreadable;
}

}  // namespace

Block block_of_reason(std::string_view reason) {
  Block block;
  block.header.kind = BlockKind::definitions;
  add_definition(block, DefinitionKind::reason, 1, reason.substr(0, kMostReasonBytes));
  return block;
}

uint64_t Definitions::define(DefinitionKind kind, const std::string& body) {
  const size_t size = block_.records.size();
  add_definition(block_, kind, ++last_number_, body);
  bytes_to_take_ += block_.records.size() - size;
  if (block_.records.size() >= kBlockBytes) end_block();
  return last_number_;
}

uint64_t Definitions::text(const std::string& text) {
  if (text.empty()) return 0;
  if (text.size() > kMostTextBytes) return this->text(text.substr(0, kMostTextBytes));
  if (const auto found = texts_.find(text); found != texts_.end()) return found->second;
  bound(texts_);
  const uint64_t number = define(DefinitionKind::text, text);
  texts_.emplace(text, number);
  return number;
}

uint64_t Definitions::source(const std::shared_ptr<const EventSource>& source) {
  const auto found = sources_.find(source.get());
  if (found != sources_.end()) return found->second.number;
  bound(sources_);
  const uint64_t number = define(DefinitionKind::source, body_of(*source));
  sources_.emplace(source.get(), Source{number, source});
  return number;
}

std::string Definitions::body_of(const EventSource& source) {
  std::string body;
  ByteWriter to(body);
  to.varint(text(source.probe));
  to.varint(text(source.session));
  to.varint(source.arguments.size());
  for (const Argument& one : source.arguments) argument(to, one);
  to.varint(source.result ? 1 : 0);
  if (source.result) argument(to, *source.result);
  return body;
}

void Definitions::argument(ByteWriter& to, const Argument& argument) {
  // Written with its length, so that a reader can skip members that later versions add.
  std::string body;
  ByteWriter in(body);
  in.varint(static_cast<uint64_t>(argument.kind));
  in.varint(argument.size_bytes);
  in.varint(bits_of(argument));
  in.varint(argument.byte_count);
  in.varint(text(argument.name));
  in.varint(text(argument.declared_type));
  static const Enumerators kNone;
  const Enumerators& named = argument.enumerators ? *argument.enumerators : kNone;
  in.varint(named.size());
  for (const Enumerator& one : named) {
    in.varint(text(one.name));
    in.varint(zigzag(one.value));
  }
  in.varint(static_cast<uint64_t>(recorded_place_of(argument)));
  // Readers before `as_text` show it as the reason why there is no value.
  const bool has_text = !is_readable(argument) || is_struct_as_text(argument);
  in.varint(text(has_text ? argument.text : ""));
  to.text(body);
}

uint64_t Definitions::thread(pid_t pid, pid_t tid, std::string_view comm) {
  const auto found = threads_.find(tid);
  if (found != threads_.end() && found->second.pid == pid && found->second.comm == comm)
    return found->second.number;
  bound(threads_);
  std::string body;
  ByteWriter to(body);
  to.varint(static_cast<uint32_t>(pid));
  to.varint(static_cast<uint32_t>(tid));
  to.varint(text(std::string(comm)));
  const uint64_t number = define(DefinitionKind::thread, body);
  threads_.insert_or_assign(tid, Thread{number, pid, std::string(comm)});
  return number;
}

uint64_t Definitions::frame(const Frame& frame) {
  if (const auto found = frames_.find(frame); found != frames_.end()) return found->second;
  bound(frames_);
  std::string body;
  ByteWriter to(body);
  to.varint(frame.address);
  to.varint(text(frame.module));
  to.varint(text(frame.build_id));
  to.varint(frame.offset);
  to.varint(text(frame.function));
  to.varint(frame.function_offset);
  to.varint(text(frame.file));
  to.varint(frame.line);
  to.varint(frame.inlined ? 1 : 0);
  to.varint(frame.size_bytes ? *frame.size_bytes + 1 : 0);
  const uint64_t number = define(DefinitionKind::frame, body);
  frames_.emplace(frame, number);
  return number;
}

uint64_t Definitions::stack(const Stack& stack) {
  std::string body;
  ByteWriter to(body);
  to.varint(static_cast<uint64_t>(stack.by));
  to.varint(static_cast<uint64_t>(stack.end));
  const size_t count = std::min(stack.frames.size(), kMostStackFrames);
  to.varint(count);
  for (size_t i = 0; i < count; ++i) to.varint(frame(stack.frames[i]));
  if (const auto found = stacks_.find(body); found != stacks_.end()) return found->second;
  bound(stacks_);
  const uint64_t number = define(DefinitionKind::stack, body);
  stacks_.emplace(std::move(body), number);
  return number;
}

void Definitions::end_block() {
  block_.header.kind = BlockKind::definitions;
  ended_.push_back(std::exchange(block_, Block{}));
}

std::vector<Block> Definitions::take() {
  if (block_.header.records) end_block();
  bytes_to_take_ = 0;
  return std::exchange(ended_, {});
}

void Definitions::forget() {
  texts_.clear();
  sources_.clear();
  threads_.clear();
  frames_.clear();
  stacks_.clear();
}

}  // namespace tracectl::recording
