// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/model/stack.h"

#include <algorithm>
#include <array>
#include <cstdio>

namespace tracectl {
namespace {

// In the order of the enumerators.
constexpr std::array kBys = std::to_array<std::string_view>({"frame_pointers", "unwind_tables"});
constexpr std::array kFormats = std::to_array<std::string_view>({"symbols", "raw", "build-id"});
constexpr std::array kEnds =
    std::to_array<std::string_view>({"outermost", "limit", "unreadable", "bad_frame_pointer",
                                     "end_of_copy", "no_table", "unknown_process"});

template <class Enum, size_t count>
std::optional<Enum> find(const std::array<std::string_view, count>& names, std::string_view name) {
  const auto at = std::find(names.begin(), names.end(), name);
  if (at == names.end()) return std::nullopt;
  return static_cast<Enum>(at - names.begin());
}

std::string hex(uint64_t number) {
  char text[20];
  std::snprintf(text, sizeof text, "0x%lx", number);
  return text;
}

std::string base_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

std::string place_of(const Frame& frame) {
  if (frame.inlined) return frame.function.empty() ? "?" : frame.function;
  if (!frame.function.empty()) return frame.function + "+" + hex(frame.function_offset);
  return hex(frame.module.empty() ? frame.address : frame.offset);
}

// Of a frame that shown_as() has left without names.
bool is_unnamed(const Frame& frame) { return frame.module.empty() && frame.function.empty(); }

std::string text_of_unnamed(const Frame& frame) {
  if (!frame.build_id.empty()) return frame.build_id + "+" + hex(frame.offset);
  return frame.address ? hex(frame.address) : "?";
}

}  // namespace

std::string_view name_of(StackBy by) { return kBys[static_cast<size_t>(by)]; }
std::string_view name_of(StackEnd end) { return kEnds[static_cast<size_t>(end)]; }
std::optional<StackBy> stack_by_named(std::string_view name) { return find<StackBy>(kBys, name); }
std::optional<StackEnd> stack_end_named(std::string_view name) {
  return find<StackEnd>(kEnds, name);
}

std::optional<StackFormat> stack_format_named(std::string_view name) {
  return find<StackFormat>(kFormats, name);
}

Frame shown_as(StackFormat format, const Frame& frame) {
  Frame shown;
  switch (format) {
    case StackFormat::symbols: return frame;
    case StackFormat::raw: shown.address = frame.address; break;
    case StackFormat::build_id:
      shown.build_id = frame.build_id;
      if (!frame.build_id.empty()) shown.offset = frame.offset;
      break;
  }
  shown.size_bytes = frame.size_bytes;
  return shown;
}

Stack shown_as(StackFormat format, Stack stack) {
  if (format == StackFormat::symbols) return stack;
  std::erase_if(stack.frames, [](const Frame& frame) { return frame.inlined; });
  for (Frame& frame : stack.frames) frame = shown_as(format, frame);
  return stack;
}

std::string to_string(const Frame& frame) {
  if (is_unnamed(frame) && !frame.inlined) return text_of_unnamed(frame);
  std::string text = place_of(frame);
  text += " (" + (frame.module.empty() ? "?" : base_name(frame.module)) + ")";
  if (!frame.file.empty()) text += " " + base_name(frame.file) + ":" + std::to_string(frame.line);
  if (frame.inlined) text += " [inlined]";
  return text;
}

}  // namespace tracectl
