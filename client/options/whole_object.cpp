// SPDX-License-Identifier: BSD-2-Clause
#include "client/options/whole_object.h"

#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>

#include "daemon/model/pattern.h"

namespace tracectl {
namespace {

std::string whole_path(const std::string& path) {
  std::error_code error;
  const auto file = std::filesystem::canonical(path, error);
  return error ? std::filesystem::absolute(path).lexically_normal().string() : file.string();
}

// Where OBJECT begins: after the kind of probe, if there is one.
size_t start_of_object(const std::string& pattern) {
  const size_t colon = pattern.find(':');
  return pattern.find('/') < colon ? 0 : colon + 1;
}

// Where OBJECT ends that begins at `start`, if the pattern is one of a line, whose FILE may have slashes too; npos if none
// begins there.
std::optional<size_t> end_in_line(const std::string& pattern, size_t start) {
  // A path that is not absolute would be refused.
  constexpr std::string_view kRoot = "/.";
  const auto line =
      parse_pattern(pattern.substr(0, start) + std::string{kRoot} + pattern.substr(start));
  if (!line || line->file.empty()) return std::nullopt;
  if (!line->object.starts_with(kRoot)) return std::string::npos;
  return start + line->object.size() - kRoot.size();
}

}  // namespace

std::string with_whole_object(const std::string& pattern) {
  if (pattern.find(':') == std::string::npos) return pattern;
  const size_t start = start_of_object(pattern);
  const size_t end = end_in_line(pattern, start).value_or(pattern.find(':', start));
  if (end == std::string::npos) return pattern;
  const std::string object = pattern.substr(start, end - start);
  if (object.starts_with('/') || object.find('/') == std::string::npos) return pattern;
  return pattern.substr(0, start) + whole_path(object) + pattern.substr(end);
}

}  // namespace tracectl
