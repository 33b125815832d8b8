// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/sandbox/stack_wire.h"

#include <algorithm>
#include <span>

#include "daemon/sandbox/wire_parts.h"

namespace tracectl::wire {
namespace {

constexpr size_t kMostRanges = 1 << 16;          // of one file
constexpr size_t kMostCopiedBytes = 64 << 10;    // of one stack
constexpr size_t kMostFunctionBytes = 16 << 10;  // of a name; longer ones are cut
constexpr size_t kMostSourceBytes = 4 << 10;
constexpr size_t kMostInlined = 64;  // frames at one address
constexpr uint8_t kCopies = 0, kAddresses = 1;

// ---- questions ----

void write(ByteWriter& to, const RawStack& copy) {
  to.varint(copy.most_frames);
  for (const uint64_t value : copy.registers) to.fixed(value);
  to.fixed(copy.start);
  to.text({reinterpret_cast<const char*>(copy.bytes.data()), copy.bytes.size()});
}

bool read(ByteReader& from, RawStack& copy) {
  copy.most_frames = from.small<unsigned>();
  for (uint64_t& value : copy.registers) value = from.fixed<uint64_t>();
  copy.start = from.fixed<uint64_t>();
  const std::string bytes = read_text(from, kMostCopiedBytes);
  const auto* first = reinterpret_cast<const std::byte*>(bytes.data());
  copy.bytes.assign(first, first + bytes.size());
  return !from.failed() && copy.most_frames >= 1 && copy.most_frames <= kMostFrames;
}

std::optional<StackQuestion> read_copies(ByteReader& from) {
  const uint64_t count = from.varint();
  if (count > kMostCopiesAsked) return std::nullopt;
  Copies copies;
  for (uint64_t i = 0; i < count; ++i) {
    auto copy = std::make_shared<RawStack>();
    if (!read(from, *copy)) return std::nullopt;
    copies.push_back(std::move(copy));
  }
  return copies;
}

std::optional<StackQuestion> read_addresses(ByteReader& from) {
  const uint64_t count = from.varint();
  if (count > kMostAddressesAsked) return std::nullopt;
  std::vector<CodeAddress> addresses;
  for (uint64_t i = 0; i < count && !from.failed(); ++i) {
    CodeAddress& code = addresses.emplace_back();
    code.address = from.fixed<uint64_t>();
    code.is_where_returns = from.fixed<uint8_t>();
  }
  return addresses;
}

// ---- answers ----

void write(ByteWriter& to, const Unwound& unwound) {
  to.fixed(static_cast<uint8_t>(unwound.end));
  to.varint(unwound.addresses.size());
  for (size_t i = 0; i < unwound.addresses.size(); ++i) {
    to.fixed(unwound.addresses[i]);
    to.fixed(unwound.stack_pointers[i]);
  }
}

// It begins at the thread's instruction, and has at most the requested frames.
bool read(ByteReader& from, Unwound& unwound, const std::shared_ptr<const RawStack>& copy) {
  if (!read_enum(from, unwound.end, StackEnd::unknown_process)) return false;
  const uint64_t count = from.varint();
  if (from.failed() || count < 1 || count > copy->most_frames) return false;
  for (uint64_t i = 0; i < count; ++i) {
    unwound.addresses.push_back(from.fixed<uint64_t>());
    unwound.stack_pointers.push_back(from.fixed<uint64_t>());
  }
  return !from.failed() && unwound.addresses.front() == copy->registers.back();
}

std::string_view cut(std::string_view text, size_t most) { return text.substr(0, most); }

// All frames of one address share the file and the offset in it.
void write(ByteWriter& to, const Frames& frames) {
  const size_t count = std::min(frames.size(), kMostInlined);
  to.varint(count);
  if (count == 0) return;
  to.text(frames.back().build_id);
  to.fixed(frames.back().offset);
  for (const tracectl::Frame& frame : std::span(frames).last(count)) {
    to.text(cut(frame.function, kMostFunctionBytes));
    to.varint(frame.function_offset);
    to.text(cut(frame.file, kMostSourceBytes));
    to.varint(frame.line);
    to.fixed(static_cast<uint8_t>(frame.inlined));
  }
}

bool read(ByteReader& from, tracectl::Frame& frame) {
  frame.function = read_text(from, kMostFunctionBytes);
  frame.function_offset = from.varint();
  frame.file = read_text(from, kMostSourceBytes);
  frame.line = from.small<unsigned>();
  frame.inlined = from.fixed<uint8_t>();
  return !from.failed();
}

// The last frame is that of the function itself, into which the others are inlined.
bool read(ByteReader& from, Frames& frames, const CodeAddress& code) {
  const uint64_t count = from.varint();
  if (count > kMostInlined) return false;
  if (count == 0) return !from.failed();
  tracectl::Frame own;
  own.address = code.address;
  own.build_id = read_build_id(from);
  own.offset = from.fixed<uint64_t>();
  if (from.failed()) return false;
  for (uint64_t i = 0; i < count; ++i) {
    if (!read(from, frames.emplace_back(own))) return false;
    if (frames.back().inlined != (i + 1 < count)) return false;
  }
  return true;
}

// Exactly as many as were asked for.
template <class Answer, class Asked>
Result<StackAnswer> read_all(ByteReader& from, const std::vector<Asked>& asked) {
  std::vector<Answer> answers(asked.size());
  for (size_t i = 0; i < asked.size(); ++i)
    if (!read(from, answers[i], asked[i])) return untrue();
  if (!from.at_end()) return untrue();
  return StackAnswer{std::move(answers)};
}

}  // namespace

std::string encode(const LoadedPlace& place) {
  std::string bytes;
  ByteWriter to(bytes);
  to.text(place.path);
  to.varint(place.ranges.size());
  for (const LoadedFile::Range& range : place.ranges)
    for (const uint64_t value : {range.start, range.end, range.file_offset}) to.fixed(value);
  return bytes;
}

std::optional<LoadedPlace> decode_place(std::string_view bytes) {
  ByteReader from(bytes);
  LoadedPlace place;
  place.path = from.text();
  const uint64_t count = from.varint();
  if (count > kMostRanges) return std::nullopt;
  for (uint64_t i = 0; i < count && !from.failed(); ++i) {
    LoadedFile::Range& range = place.ranges.emplace_back();
    for (uint64_t* value : {&range.start, &range.end, &range.file_offset})
      *value = from.fixed<uint64_t>();
  }
  if (from.failed() || !from.at_end()) return std::nullopt;
  return place;
}

std::string encode(const StackQuestion& question) {
  std::string bytes;
  ByteWriter to(bytes);
  if (const auto* copies = std::get_if<Copies>(&question)) {
    to.fixed(kCopies);
    to.varint(copies->size());
    for (const auto& copy : *copies) write(to, *copy);
    return bytes;
  }
  const auto& addresses = std::get<std::vector<CodeAddress>>(question);
  to.fixed(kAddresses);
  to.varint(addresses.size());
  for (const CodeAddress& code : addresses) {
    to.fixed(code.address);
    to.fixed(static_cast<uint8_t>(code.is_where_returns));
  }
  return bytes;
}

std::optional<StackQuestion> decode_stack_question(std::string_view bytes) {
  ByteReader from(bytes);
  const auto kind = from.fixed<uint8_t>();
  auto question = kind == kCopies ? read_copies(from) : read_addresses(from);
  if (kind > kAddresses || from.failed() || !from.at_end()) return std::nullopt;
  return question;
}

std::string encode(const StackAnswer& answer) {
  std::string bytes;
  ByteWriter to(bytes);
  to.fixed(uint8_t{1});
  std::visit(
      [&](const auto& all) {
        for (const auto& one : all) write(to, one);
      },
      answer);
  return bytes;
}

Result<StackAnswer> decode_stack_answer(std::string_view answer, const StackQuestion& question) {
  ByteReader from(answer);
  if (auto error = read_error(from)) return *error;
  if (const auto* copies = std::get_if<Copies>(&question)) return read_all<Unwound>(from, *copies);
  return read_all<Frames>(from, std::get<std::vector<CodeAddress>>(question));
}

}  // namespace tracectl::wire
