// SPDX-License-Identifier: BSD-2-Clause
//
// Failures of systemd's units, derived from the unit's properties (org.freedesktop.systemd1(5)).
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "daemon/process/command.h"

namespace tracectl {

struct UnitFailure {
  std::string unit;                        // nginx.service
  std::string result;                      // systemd's word: exit-code, signal, oom-kill, ...
  std::optional<pid_t> main_pid = {};      // if it had a main process
  std::optional<Ending> main_ending = {};  // and that has ended

  bool operator==(const UnitFailure&) const = default;
};

// "the unit nginx.service has failed: its process 123 was killed by SIGSEGV"
std::string text(const UnitFailure& failure);

// The properties of the same names. Only services have those of a main process.
struct UnitState {
  std::string id;  // its name
  std::string load_state;
  std::string active_state;
  std::string sub_state;
  std::string invocation_id;  // of its last start; each start has another
  std::string result = "success";
  pid_t exec_main_pid = 0;
  int exec_main_code = 0;    // CLD_EXITED and the like; 0 while it runs
  int exec_main_status = 0;  // an exit status or a signal
};

// Reports each failure of one unit once, however often systemd reports the same state. A service
// that restarts automatically is not `failed` until systemd gives up: between its runs it is
// `activating`, with the result of the last run. That counts as a failure, and giving up is not
// another one.
class UnitHistory {
 public:
  std::optional<UnitFailure> next(const UnitState& now);

 private:
  std::optional<std::string> reported_;  // the last invocation whose failure was reported
};

}  // namespace tracectl
