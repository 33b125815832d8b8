// SPDX-License-Identifier: BSD-2-Clause
#include "client/options/whole_object.h"

#include <filesystem>
#include <system_error>

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

}  // namespace

std::string with_whole_object(const std::string& pattern) {
  if (pattern.find(':') == std::string::npos) return pattern;
  const size_t start = start_of_object(pattern), end = pattern.find(':', start);
  if (end == std::string::npos) return pattern;
  const std::string object = pattern.substr(start, end - start);
  if (object.starts_with('/') || object.find('/') == std::string::npos) return pattern;
  return pattern.substr(0, start) + whole_path(object) + pattern.substr(end);
}

}  // namespace tracectl
