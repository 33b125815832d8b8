// SPDX-License-Identifier: BSD-2-Clause
//
// The kernel's door for everything that the programs report except the events of sessions.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "bpf/abi.h"
#include "daemon/base/fd.h"
#include "daemon/base/result.h"
#include "daemon/kernel/ring.h"
#include "daemon/model/process_end.h"

struct tracer;

namespace tracectl {

// Only the control thread may call it. It owns the mapped ring of notices; the programs fill it. Only what returns a
// Result can fail, with the errno of the kernel or as said there.
class Notices {
 public:
  // Both are borrowed; `skeleton` is loaded.
  static Result<Notices> open(tracer& skeleton, std::span<tc_session> sessions);

  // Readable when there are notices. Borrowed.
  int fd() const;
  // The notices that have come, the oldest first.
  std::vector<tc_notice> take();

  // The session's next trigger asks for a dump. Later ones do not, until this is called again.
  void listen_for_dumps(uint32_t session);
  // Notices report ends of this kind, of all processes.
  void watch_ends(const WatchedEnds& ends);

  // Arms these offsets of a dynamic linker in this process only. Its hits send notices, as `linkers()[number]` says.
  // Closing the returned descriptors disarms them. Code::invalid if the process is not one.
  Result<std::vector<Fd>> arm_linker(int object_fd, std::span<const uint64_t> offsets, pid_t pid,
                                     uint32_t number);
  // Memory shared with the programs.
  std::span<tc_linker> linkers();

 private:
  Notices(tracer& skeleton, std::span<tc_session> sessions, Ring ring);

  tracer& skeleton_;
  std::span<tc_session> sessions_;
  Ring ring_;
};

}  // namespace tracectl
