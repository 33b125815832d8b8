// SPDX-License-Identifier: BSD-2-Clause
#include "client/options/trace_file_name.h"

#include <fmt/chrono.h>

#include <ctime>
#include <filesystem>

namespace tracectl {

std::string trace_file_name(const std::string& file_or_directory) {
  std::error_code failed;
  const std::filesystem::path path = file_or_directory;
  if (!std::filesystem::is_directory(path, failed)) return file_or_directory;
  const std::string name =
      fmt::format("tracectl-{:%Y%m%dT%H%M%SZ}.tct", fmt::gmtime(std::time(nullptr)));
  return path == "." ? name : (path / name).string();
}

}  // namespace tracectl
