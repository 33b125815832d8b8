// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/protocol/stacks.h"

#include <algorithm>
#include <limits>

#include "daemon/protocol/json_text.h"

namespace tracectl::protocol {
namespace {

void append_text(std::string& out, std::string_view name_and_colon, const std::string& text) {
  if (text.empty()) return;
  out += name_and_colon;
  append_string(out, text);
}

void append_number(std::string& out, std::string_view name_and_colon, uint64_t number) {
  out += name_and_colon;
  append_integer(out, number);
}

// It is the offset in a file.
bool has_offset(const Frame& frame) { return !frame.module.empty() || !frame.build_id.empty(); }

void append_frame(std::string& out, const Frame& frame) {
  const size_t begin = out.size();
  if (frame.address) append_number(out, ",\"address\":", frame.address);
  append_text(out, ",\"module\":", frame.module);
  append_text(out, ",\"build_id\":", frame.build_id);
  if (has_offset(frame)) append_number(out, ",\"offset\":", frame.offset);
  append_text(out, ",\"function\":", frame.function);
  if (!frame.function.empty() && !frame.inlined)
    append_number(out, ",\"function_offset\":", frame.function_offset);
  append_text(out, ",\"file\":", frame.file);
  if (frame.line) append_number(out, ",\"line\":", frame.line);
  out += frame.inlined ? ",\"inlined\":true" : ",\"inlined\":false";
  if (frame.size_bytes) append_number(out, ",\"size_bytes\":", *frame.size_bytes);
  out[begin] = '{';  // for the first comma
  out += '}';
}

std::optional<std::string> if_any(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional(text);
}

}  // namespace

void append_stack(std::string& out, const Stack& stack) {
  out += ",\"stack\":[";
  for (size_t i = 0; i < stack.frames.size(); ++i) {
    if (i) out += ',';
    append_frame(out, stack.frames[i]);
  }
  append_text(out, "],\"stack_by\":", std::string(name_of(stack.by)));
  append_text(out, ",\"stack_end\":", std::string(name_of(stack.end)));
}

FramePart part_of(const Frame& frame) {
  FramePart part{.module = if_any(frame.module),
                 .build_id = if_any(frame.build_id),
                 .function = if_any(frame.function),
                 .file = if_any(frame.file),
                 .inlined = frame.inlined,
                 .size_bytes = frame.size_bytes};
  if (frame.address) part.address = frame.address;
  if (has_offset(frame)) part.offset = frame.offset;
  if (part.function && !frame.inlined) part.function_offset = frame.function_offset;
  if (frame.line) part.line = frame.line;
  return part;
}

std::vector<FramePart> parts_of(const Stack& stack) {
  std::vector<FramePart> parts;
  for (const Frame& frame : stack.frames) parts.push_back(part_of(frame));
  return parts;
}

Frame frame_of(const FramePart& part) {
  Frame frame;
  frame.address = part.address.value_or(0);
  frame.module = part.module.value_or("");
  frame.build_id = part.build_id.value_or("");
  frame.offset = part.offset.value_or(0);
  frame.function = part.function.value_or("");
  frame.function_offset = part.function_offset.value_or(0);
  frame.file = part.file.value_or("");
  frame.line = static_cast<unsigned>(
      std::min<uint64_t>(part.line.value_or(0), std::numeric_limits<unsigned>::max()));
  frame.inlined = part.inlined;
  frame.size_bytes = part.size_bytes;
  return frame;
}

Result<std::optional<Stack>> stack_of(const std::optional<std::vector<FramePart>>& frames,
                                      const std::optional<std::string>& by,
                                      const std::optional<std::string>& end) {
  if (!frames && !by && !end) return std::optional<Stack>{};
  const auto known_by = by ? stack_by_named(*by) : std::nullopt;
  const auto known_end = end ? stack_end_named(*end) : std::nullopt;
  if (!frames || !known_by || !known_end)
    return Error{Code::invalid,
                 "the peer's notification is malformed: a stack this program does "
                 "not know"};
  Stack stack{.by = *known_by, .end = *known_end, .frames = {}};
  for (const FramePart& part : *frames) stack.frames.push_back(frame_of(part));
  return std::optional(std::move(stack));
}

}  // namespace tracectl::protocol
