// SPDX-License-Identifier: BSD-2-Clause
//
// Thread progress: every program that could still see the old generation has ended.
//
// Uprobe programs that do not sleep run under rcu_read_lock, so one RCU grace period is enough.
// membarrier(MEMBARRIER_CMD_GLOBAL) is synchronize_rcu; it is not offered under nohz_full, and
// with one CPU online it returns at once, which would be wrong where programs can be preempted.
// There the unregistering of a probe of our own is the wait: the kernel then waits for every
// uprobe handler (RCU tasks trace), sleepable ones too.
#pragma once

#include "daemon/base/fd.h"
#include "daemon/base/result.h"

namespace tracectl {

class Progress {
 public:
  // `program_fd` is borrowed: a uprobe program for the probe of our own.
  explicit Progress(int program_fd) : program_fd_(program_fd) {}

  // To be called while a commit can still fail; after it, wait() cannot.
  Status prepare();
  void wait();

 private:
  int program_fd_;
  Fd own_probe_;  // closing it waits
};

}  // namespace tracectl
