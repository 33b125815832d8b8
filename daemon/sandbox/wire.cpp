// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/sandbox/wire.h"

#include "daemon/sandbox/wire_parts.h"

namespace tracectl::wire {
namespace {

constexpr size_t kMostQuestionItems = 1 << 20;
constexpr size_t kMostBuildIdBytes = 128;
constexpr size_t kMostMessageBytes = 256 << 10;

void write(ByteWriter& to, const Pattern& pattern) {
  to.fixed(static_cast<uint8_t>(pattern.kind));
  to.fixed(static_cast<uint8_t>(pattern.scope));
  to.varint(pattern.offset);
  for (const std::string* text :
       {&pattern.object, &pattern.function, &pattern.provider, &pattern.name})
    to.text(*text);
}

bool read(ByteReader& from, Pattern& pattern) {
  const bool known = read_enum(from, pattern.kind, ProbeKind::usdt) &&
                     read_enum(from, pattern.scope, Scope::global);
  pattern.offset = from.varint();
  for (std::string* text : {&pattern.object, &pattern.function, &pattern.provider, &pattern.name})
    *text = from.text();
  return known && !from.failed();
}

void write(ByteWriter& to, const Below& below) {
  to.fixed(static_cast<uint8_t>(below.reached));
  to.fixed(static_cast<uint8_t>(below.unknown_calls));
  write_optional(to, below.most_calls);
  to.varint(below.most);
  to.varint(below.skip.size());
  for (const std::string& glob : below.skip) to.text(glob);
  to.varint(below.grown.size());
  for (const Pattern& pattern : below.grown) write(to, pattern);
}

bool read(ByteReader& from, Below& below) {
  below.reached = from.fixed<uint8_t>();
  below.unknown_calls = from.fixed<uint8_t>();
  below.most_calls = read_optional<uint32_t>(from);
  below.most = from.varint();
  const uint64_t skipped = from.varint();
  if (skipped > kMostQuestionItems) return false;
  for (uint64_t i = 0; i < skipped && !from.failed(); ++i) below.skip.emplace_back(from.text());
  const uint64_t grown = from.varint();
  if (grown > kMostQuestionItems) return false;
  for (uint64_t i = 0; i < grown && !from.failed(); ++i)
    if (!read(from, below.grown.emplace_back())) return false;
  return !from.failed();
}

}  // namespace

// ---- frames ----

std::string frame_of(Kind kind, std::string_view bytes) {
  std::string frame;
  frame.reserve(kHeaderBytes + bytes.size());
  ByteWriter writer(frame);
  writer.fixed(static_cast<uint32_t>(bytes.size()));
  writer.fixed(static_cast<uint8_t>(kind));
  frame += bytes;
  return frame;
}

Result<Header> header_of(std::string_view bytes) {
  ByteReader reader(bytes);
  Header header;
  header.bytes = reader.fixed<uint32_t>();
  if (!read_enum(reader, header.kind, Kind::wish) || header.bytes > kMostFrameBytes)
    return Error{Code::invalid, "more was said than can be true of a file"};
  return header;
}

Result<std::optional<Frame>> first_frame(std::string_view received) {
  if (received.size() < kHeaderBytes) return std::optional<Frame>{};
  const auto header = header_of(received);
  if (!header) return header.error();
  if (received.size() - kHeaderBytes < header->bytes) return std::optional<Frame>{};
  return std::optional(Frame{header->kind, received.substr(kHeaderBytes, header->bytes)});
}

// ---- questions ----

std::string encode(const Question& question) {
  std::string bytes;
  ByteWriter to(bytes);
  write(to, question.pattern);
  write_optional(
      to, question.returns ? std::optional(static_cast<uint8_t>(*question.returns)) : std::nullopt);
  to.fixed(static_cast<uint8_t>(question.below.has_value()));
  if (question.below) write(to, *question.below);
  return bytes;
}

std::optional<Question> decode_question(std::string_view bytes) {
  ByteReader from(bytes);
  Question question;
  if (!read(from, question.pattern)) return std::nullopt;
  if (from.fixed<uint8_t>() && !read_enum(from, question.returns.emplace(), Returns::exits))
    return std::nullopt;
  if (from.fixed<uint8_t>() && !read(from, question.below.emplace())) return std::nullopt;
  if (from.failed() || !from.at_end()) return std::nullopt;
  return question;
}

// ---- answers ----

std::string encode(const Error& error) {
  std::string bytes;
  ByteWriter to(bytes);
  to.fixed(uint8_t{0});
  to.fixed(static_cast<uint8_t>(error.code));
  to.text(std::string_view(error.message).substr(0, kMostMessageBytes));
  to.text(error.field);
  return bytes;
}

// Reads the begin of an answer; none if it is not an error.
std::optional<Error> read_error(ByteReader& from) {
  if (from.fixed<uint8_t>() == 1 && !from.failed()) return std::nullopt;
  Error error;
  const bool known = read_enum(from, error.code, Code::kernel);
  error.message = read_text(from, kMostMessageBytes);
  error.field = read_text(from, kMostMessageBytes);
  if (!known || from.failed() || !from.at_end()) return untrue();
  return error;
}

std::string read_build_id(ByteReader& from) {
  std::string text = read_text(from, kMostBuildIdBytes);
  if (text.find_first_not_of("0123456789abcdef") != std::string::npos) from.take(UINT64_MAX);
  return text;
}

Error untrue() { return Error{Code::invalid, "what was read of it cannot be true"}; }

std::string encode(const Result<FileFacts>& facts) {
  if (!facts) return encode(facts.error());
  std::string bytes;
  ByteWriter to(bytes);
  to.fixed(uint8_t{1});
  to.text(facts->build_id);
  to.fixed(static_cast<uint8_t>(facts->has_unwind_table));
  return bytes;
}

Result<FileFacts> decode_facts(std::string_view answer) {
  ByteReader from(answer);
  if (auto error = read_error(from)) return *error;
  FileFacts facts;
  facts.build_id = read_build_id(from);
  facts.has_unwind_table = from.fixed<uint8_t>();
  if (from.failed() || !from.at_end()) return untrue();
  return facts;
}

std::string encode(const Result<std::optional<std::string>>& function) {
  if (!function) return encode(function.error());
  std::string bytes;
  ByteWriter to(bytes);
  to.fixed(uint8_t{1});
  to.fixed(static_cast<uint8_t>(function->has_value()));
  to.text(function->value_or(""));
  return bytes;
}

Result<std::optional<std::string>> decode_function(std::string_view answer) {
  ByteReader from(answer);
  if (auto error = read_error(from)) return *error;
  const bool is_there = from.fixed<uint8_t>();
  std::string name = read_text(from, kLongestSymbol);
  if (from.failed() || !from.at_end() || (is_there && name.empty())) return untrue();
  return is_there ? std::optional(std::move(name)) : std::nullopt;
}

}  // namespace tracectl::wire
