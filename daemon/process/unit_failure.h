// SPDX-License-Identifier: BSD-2-Clause
//
// Failures of systemd's units, as the unit's properties tell them (org.freedesktop.systemd1(5)).
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "daemon/process/command.h"

namespace tracectl {

struct UnitFailure {
  std::string unit;                        // nginx.service
  std::string result;                      // systemd's word: exit-code, signal, oom-kill, ...
  std::optional<pid_t> main_pid = {};      // where it had a main process,
  std::optional<Ending> main_ending = {};  // which has ended

  bool operator==(const UnitFailure&) const = default;
};

// the unit nginx.service has failed: its process 123 was killed by SIGSEGV
std::string text(const UnitFailure& failure);

// The properties of the same names. Those of a main process only services have.
struct UnitState {
  std::string id;  // its name
  std::string load_state;
  std::string active_state;
  std::string sub_state;
  std::string invocation_id;  // of its last start; another one for each
  std::string result = "success";
  pid_t exec_main_pid = 0;
  int exec_main_code = 0;    // CLD_EXITED and the like; 0 while it runs
  int exec_main_status = 0;  // an exit status or a signal
};

// Tells each failure of one unit once, however often systemd tells the same state. A service that is
// restarted by itself is never `failed` until systemd gives up: between its runs it is `activating`,
// with the result of the last. That is a failure, and giving up is no further one.
class UnitHistory {
 public:
  std::optional<UnitFailure> next(const UnitState& now);

 private:
  std::optional<std::string> told_;  // the invocation that has failed
};

}  // namespace tracectl
