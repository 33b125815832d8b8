// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

namespace tracectl {

// A process that was ended by a signal: one that leaves a core, or SIGKILL.
struct Crash {
  uint64_t ts_ns = 0;     // CLOCK_BOOTTIME, of its end
  pid_t pid = 0;          // in the engine's PID namespace
  pid_t own_pid = 0;      // in its own PID namespace
  pid_t initial_pid = 0;  // in the initial PID namespace
  uid_t uid = 0;
  gid_t gid = 0;
  std::string name;
  int signal = 0;
  bool has_core = false;  // a core was written, or passed to a program
};

}  // namespace tracectl
