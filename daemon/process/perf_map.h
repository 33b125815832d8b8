// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "daemon/base/fd.h"
#include "daemon/process/process.h"

namespace tracectl {

struct PerfMap {
  Fd fd;
  std::string path;  // as the process sees it
};

// The process's own number in the innermost PID namespace, from the text of /proc/PID/status.
std::optional<pid_t> parse_innermost_pid(std::string_view status);

// The file in which a process lists the code that it makes at run time: /tmp/perf-PID.map, by the number that the
// process has for itself and below its root. None if it is not a regular file of the user as whom the process runs,
// because anybody can put a file there, or was last written before the process began, because an earlier process can
// have had the same number.
std::optional<PerfMap> open_perf_map(const Process& process);

}  // namespace tracectl
