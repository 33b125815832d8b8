// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <sys/types.h>

#include <cstdint>

#include "daemon/base/result.h"
#include "daemon/kernel/kernel.h"

namespace tracectl {

// The kernel's tables that say which processes belong to which set targets. The BPF programs that
// follow forks and execs add to them (bpf/members.bpf.h). The functions are described in
// daemon/kernel/kernel.h.
class ProcessSets {
 public:
  // Descriptors of BPF maps, borrowed.
  struct Tables {
    int executables;
    int families;
    int members;
  };
  ProcessSets(const Tables& tables, bool in_own_pid_namespace)
      : tables_(tables), in_own_pid_namespace_(in_own_pid_namespace) {}

  Status follow_executable(dev_t device, ino_t inode, uint32_t set_target);
  void forget_executable(dev_t device, ino_t inode);
  Status keep_at_exec(dev_t device, ino_t inode, uint32_t set_target);
  void end_at_exec(dev_t device, ino_t inode, uint32_t set_target);
  Status add_member(pid_t pid, uint32_t set_target, Follow follow);
  void remove_member(pid_t pid, uint32_t set_target);
  void clear_members(uint32_t set_target);
  void end_sets_but(const tc_sets& kept);

 private:
  Status can_follow() const;

  Tables tables_;
  bool in_own_pid_namespace_;
};

}  // namespace tracectl
