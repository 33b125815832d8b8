// SPDX-License-Identifier: BSD-2-Clause
//
// Waits for thread progress: until every program, or hit, that could still see the old generation has
// ended.
//
// Uprobe programs that do not sleep run under rcu_read_lock, so one RCU grace period is enough for
// them. membarrier(MEMBARRIER_CMD_GLOBAL) is synchronize_rcu. Kernels with nohz_full do not offer it,
// and with one CPU online it returns at once, which is wrong if programs can be preempted.
//
// In these cases, and for whole hits, we unregister a probe of our own: since Linux 6.12 the kernel then
// waits for all uprobe handlers (SRCU, later RCU tasks trace), including those that sleep. Older kernels
// wait only for those of the same uprobe; there, closing a link waits for its hits.
#pragma once

#include "daemon/base/fd.h"
#include "daemon/base/result.h"
#include "daemon/kernel/switching.h"

namespace tracectl {

bool removal_waits_for_all_hits();

class ProgressWait {
 public:
  // `program_fd` is a uprobe program, for the probe of our own; borrowed.
  explicit ProgressWait(int program_fd) : program_fd_(program_fd) {}

  // Call it while a commit can still fail. After it, wait() cannot fail.
  Status prepare(Progress progress);
  void wait();

 private:
  int program_fd_;
  Fd own_probe_;  // closing it waits
};

}  // namespace tracectl
