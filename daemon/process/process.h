// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "daemon/base/fd.h"
#include "daemon/base/result.h"

namespace tracectl {

// One process, held by a pidfd, so a process that gets the same PID later is not mistaken for it.
class Process {
 public:
  // Fails with Code::not_found if there is no such process, and with Code::invalid for the id of a
  // thread; the message names the process it belongs to.
  static Result<Process> open(pid_t pid);

  // The process that connected this Unix stream socket. Fails with Code::not_found if it has ended,
  // or is in a PID namespace that is not visible from here.
  static Result<Process> at_other_end(int socket);

  pid_t pid() const { return pid_; }
  int pidfd() const { return pidfd_.get(); }  // readable once the process has ended

  // Together with the PID it identifies the process for good: the inode number of its pidfd, or, on
  // kernels where all pidfds have the same (before Linux 6.9), its start in clock ticks since boot.
  uint64_t birth() const { return birth_; }

  // When it began, by the clock of events, to a hundredth of a second. 0 if it has ended.
  uint64_t started_ns() const;

  // Identifies the program that it executes now: it changes with each execve(2), and is the same in
  // its forks. It is the start address of the program's stack, which the kernel chooses at random.
  // None after it has ended, and while an execve is under way.
  std::optional<uint64_t> image() const;

  // A process that has ended and not been waited for is not alive.
  Result<bool> alive() const;

  // ok, or an error that invalidates what was just read through /proc/PID: only while the process
  // is alive, /proc/PID is certain to be its own.
  Status still_there() const;

  // /proc/PID/NAME
  std::string proc_path(const std::string& name) const;

 private:
  Process(pid_t pid, Fd pidfd, uint64_t birth)
      : pid_(pid), pidfd_(std::move(pidfd)), birth_(birth) {}

  pid_t pid_;
  Fd pidfd_;
  uint64_t birth_;
};

// Whether both are the same process, or both are null. A PID alone can be used again.
inline bool same_process(const std::shared_ptr<const Process>& a,
                         const std::shared_ptr<const Process>& b) {
  if (!a || !b) return a == b;
  return a->pid() == b->pid() && a->birth() == b->birth();
}

}  // namespace tracectl
