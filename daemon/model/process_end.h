// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <sys/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace tracectl {

// A process that has ended.
struct ProcessEnd {
  uint64_t ts_ns = 0;     // CLOCK_BOOTTIME
  pid_t pid = 0;          // in the engine's PID namespace
  pid_t own_pid = 0;      // in its own PID namespace
  pid_t initial_pid = 0;  // in the initial PID namespace
  uid_t uid = 0;
  gid_t gid = 0;
  std::string name;
  int signal = 0;         // that has ended it; 0: it has exited
  bool has_core = false;  // a core was written, or passed to a program
  int status = 0;         // with which it has exited, 0 to 255
};

// A choice of ends.
struct WatchedEnds {
  static constexpr int kMostSignal = 64, kMostStatus = 255;

  uint64_t signals = 0;                   // bit SIGNAL - 1
  std::array<uint64_t, 4> statuses = {};  // bit STATUS % 64 of word STATUS / 64

  // Signals that leave a core (signal(7)), and SIGKILL, by which the kernel and others end processes that hang.
  void add_crashes();
  void add_signal(int signal);  // 1 to kMostSignal
  void add_status(int status);  // 0 to kMostStatus
  void add(const WatchedEnds& more);
  bool has(const ProcessEnd& end) const;
};

}  // namespace tracectl
