// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tracectl::ui {

struct ProcessRow {
  int64_t pid = 0;
  std::string user;
  std::string command;  // with its arguments
  std::optional<double> percent =
      {};  // of one CPU since the last look; none: it was not there then
};

// The processes of this machine that execute a program, without kernel threads and this process itself.
class ProcessTable {
 public:
  std::vector<ProcessRow> read();

 private:
  using Clock = std::chrono::steady_clock;
  struct Used {
    uint64_t started = 0, ticks = 0;
  };

  std::string name_of(uid_t user);
  std::optional<double> percent_of(pid_t pid, const Used& now, double seconds) const;

  std::map<pid_t, Used> last_;
  Clock::time_point last_at_ = Clock::now();
  std::map<uid_t, std::string> users_;
};

}  // namespace tracectl::ui
