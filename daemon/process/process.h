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

// One process, held by a pidfd: a process that gets the same PID later is not mistaken for it.
class Process {
 public:
  // Fails with Code::not_found where there is no such process, and with Code::invalid for the id
  // of a thread, naming the process it belongs to.
  static Result<Process> open(pid_t pid);

  // The one that connected this Unix stream socket. Fails with Code::not_found where it has ended, or is of
  // a PID namespace that cannot be seen from here.
  static Result<Process> at_other_end(int socket);

  pid_t pid() const { return pid_; }
  int pidfd() const { return pidfd_.get(); }  // readable once the process has ended

  // With the id it names the process for good: the number of its pidfd's file, or on kernels where all
  // pidfds share one (before Linux 6.9) when it started, in clock ticks since boot.
  uint64_t birth() const { return birth_; }

  // Which program it executes now: another number after each execve(2), the same in its forks. It is
  // where the program's stack begins, which the kernel chooses at random. None once it has ended, and
  // while it is just about to execute another.
  std::optional<uint64_t> image() const;

  // A process that has ended and not been waited for is not alive.
  Result<bool> alive() const;

  // ok, or the error for what was just read through /proc/PID: only while the process that was
  // opened is alive is it sure that /proc/PID was its own.
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

// Whether both are the same process, or both are none. A number alone can come to mean another one.
inline bool same_process(const std::shared_ptr<const Process>& a,
                         const std::shared_ptr<const Process>& b) {
  if (!a || !b) return a == b;
  return a->pid() == b->pid() && a->birth() == b->birth();
}

}  // namespace tracectl
