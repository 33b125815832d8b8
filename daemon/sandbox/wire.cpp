// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/sandbox/wire.h"

#include <algorithm>

#include "daemon/sandbox/wire_parts.h"

namespace tracectl::wire {
namespace {

constexpr size_t kMostBuildIdBytes = 128;

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
  const auto kind = reader.fixed<uint8_t>();
  header.kind = static_cast<Kind>(kind);
  if (reader.failed() || kind > static_cast<uint8_t>(Kind::wish) || header.bytes > kMostFrameBytes)
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

std::string encode(const Question& question) { return binary::encode(question); }

std::optional<Question> decode_question(std::string_view bytes) {
  return binary::decode<Question>(bytes, kBounds);
}

// ---- answers ----

std::string encode(const Error& error) {
  Error cut = error;
  cut.message.resize(std::min(cut.message.size(), kMostMessageBytes));
  std::string bytes;
  binary::Writer to(bytes);
  to.write(false);
  to.write(cut);
  return bytes;
}

std::optional<Error> read_error(binary::Reader& from) {
  bool has_data = false;
  if (!from.read(has_data)) return untrue();
  if (has_data) return std::nullopt;
  Error error;
  if (!from.read(error) || !from.at_end()) return untrue();
  if (std::max(error.message.size(), error.field.size()) > kMostMessageBytes) return untrue();
  return error;
}

bool is_build_id(const std::string& text) {
  return text.size() <= kMostBuildIdBytes &&
         text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

std::string encode(const Result<FileFacts>& facts) {
  return facts ? encode_data(*facts) : encode(facts.error());
}

Result<FileFacts> decode_facts(std::string_view answer) {
  return decode_data<FileFacts>(answer, kBounds,
                                [](const FileFacts& facts) { return is_build_id(facts.build_id); });
}

std::string encode(const Result<std::optional<std::string>>& function) {
  return function ? encode_data(*function) : encode(function.error());
}

Result<std::optional<std::string>> decode_function(std::string_view answer) {
  using Name = std::optional<std::string>;
  return decode_data<Name>(answer, kBounds, [](const Name& name) {
    return !name || (!name->empty() && name->size() <= kLongestSymbol);
  });
}

}  // namespace tracectl::wire
