// SPDX-License-Identifier: BSD-2-Clause
#include "client/render/folded.h"

#include <fmt/format.h>

#include <algorithm>

namespace tracectl {
namespace {

constexpr size_t kOfALine = 80;  // memory besides the text

std::string base_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// The name without the offset, which would split the calls of one function.
std::string name_of(const Frame& frame, StackFormat format) {
  if (format != StackFormat::symbols) return to_string(frame);
  std::string name = frame.function;
  if (name.empty()) name = "[" + (frame.module.empty() ? "?" : base_name(frame.module)) + "]";
  std::replace(name.begin(), name.end(), ';', ':');  // the separator of functions
  std::replace(name.begin(), name.end(), '\n', ' ');
  return name;
}

std::string folded(const Stack& stack, StackFormat format) {
  std::string line = stack.end == StackEnd::outermost ? "" : "[cut]";
  for (auto frame = stack.frames.rbegin(); frame != stack.frames.rend(); ++frame)
    line += (line.empty() ? "" : ";") + name_of(*frame, format);
  return line;
}

}  // namespace

void FoldedStacks::add(const Stack& stack, uint64_t count) {
  std::string line = folded(stack, format_);
  if (const auto known = counts_.find(line); known != counts_.end()) {
    known->second += count;
  } else if (kept_bytes_ + line.size() <= kMostKeptBytes) {
    kept_bytes_ += line.size() + kOfALine;
    counts_.emplace(std::move(line), count);
  } else {
    others_ += count;
  }
}

std::string FoldedStacks::text() const {
  std::string text;
  for (const auto& [line, count] : counts_) text += fmt::format("{} {}\n", line, count);
  if (others_) text += fmt::format("[others] {}\n", others_);
  return text;
}

}  // namespace tracectl
