// SPDX-License-Identifier: BSD-2-Clause
//
// A tracer that is not ours at a site of a program, as perf is: a uprobe of perf_event_open.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "daemon/base/fd.h"

namespace tracectl::on_kernel {

// Armed until it is destroyed, in one process of one thread. `offset` and `semaphore` are places in
// the file; semaphore 0: it knows of none.
class OtherTracer {
 public:
  OtherTracer(pid_t pid, const std::string& path, uint64_t offset, uint64_t semaphore);

  uint64_t hits() const;

 private:
  Fd event_;
};

// A USDT semaphore as a process has it in memory now.
uint16_t semaphore_value(pid_t pid, const std::string& path, uint64_t file_offset);

}  // namespace tracectl::on_kernel
