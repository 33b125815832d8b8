// SPDX-License-Identifier: BSD-2-Clause
#include "client/options/trace_file_name.h"

#include <ctime>
#include <filesystem>
#include <system_error>

#include "daemon/base/clock.h"
#include "daemon/base/utc_text.h"

namespace tracectl {

std::string trace_file_name(const std::string& file_or_directory) {
  std::error_code failed;
  const std::filesystem::path path = file_or_directory;
  if (!std::filesystem::is_directory(path, failed)) return file_or_directory;
  const std::string name = "tracectl-" + utc_text(clock_ns(CLOCK_REALTIME)) + ".tct";
  return path == "." ? name : (path / name).string();
}

}  // namespace tracectl
