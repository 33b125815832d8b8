// SPDX-License-Identifier: BSD-2-Clause
//
// Another tracer at a site of a program, like perf: a uprobe of perf_event_open.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "daemon/base/fd.h"

namespace tracectl::on_kernel {

// Armed until it is destroyed, in one process with one thread. `offset` and `semaphore` are offsets in the
// file; semaphore 0: none.
class OtherTracer {
 public:
  enum class At { hits, returns };  // what it counts: of the function that begins at the offset
  OtherTracer(pid_t pid, const std::string& path, uint64_t offset, uint64_t semaphore,
              At at = At::hits);

  uint64_t hits() const;

 private:
  Fd event_;
};

// The current value of a USDT semaphore in a process.
uint16_t semaphore_value(pid_t pid, const std::string& path, uint64_t file_offset);

}  // namespace tracectl::on_kernel
