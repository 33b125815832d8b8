// SPDX-License-Identifier: BSD-2-Clause
//
// Thread progress: every program, or hit, that could still see the old generation has ended.
//
// Uprobe programs that do not sleep run under rcu_read_lock, so one RCU grace period is enough for
// them. membarrier(MEMBARRIER_CMD_GLOBAL) is synchronize_rcu; it is not offered under nohz_full, and
// with one CPU online it returns at once, which would be wrong where programs can be preempted.
//
// There, and for whole hits, the unregistering of a probe of our own is the wait: since Linux 6.12
// the kernel then waits for every uprobe handler (SRCU, later RCU tasks trace), sleepable ones too.
// Before, it waited for those of the same uprobe only; so closing a link waits for its hits itself.
#pragma once

#include "daemon/base/fd.h"
#include "daemon/base/result.h"
#include "daemon/kernel/kernel.h"

namespace tracectl {

class ProgressWait {
 public:
  // `program_fd` is borrowed: a uprobe program for the probe of our own.
  explicit ProgressWait(int program_fd) : program_fd_(program_fd) {}

  // To be called while a commit can still fail; after it, wait() cannot.
  Status prepare(Progress progress);
  void wait();

 private:
  int program_fd_;
  Fd own_probe_;  // closing it waits
};

}  // namespace tracectl
