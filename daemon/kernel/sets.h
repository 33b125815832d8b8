// SPDX-License-Identifier: BSD-2-Clause
//
// The kernel's door for sets of processes: which processes and cgroups belong to which set targets. The programs that
// follow forks, execs and new cgroups add to them (bpf/members.bpf.h, bpf/cgroups.bpf.h).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "bpf/abi.h"
#include "daemon/base/result.h"
#include "daemon/model/target.h"

struct tracer;

namespace tracectl {

// Only the control thread may call it. The tables are the programs'; it owns nothing. Adding fails with the errno of
// the kernel, or with Code::unsupported in a PID namespace of our own, or for a name that is too long; what returns no
// Status cannot fail.
class Sets {
 public:
  // `skeleton` is loaded; borrowed.
  explicit Sets(tracer& skeleton);

  // ---- of processes ----
  Status follow_executable(dev_t device, ino_t inode, uint32_t set_target);
  void forget_executable(dev_t device, ino_t inode);
  // A process of the set stays in it when it executes this file, or ceases to.
  Status keep_at_exec(dev_t device, ino_t inode, uint32_t set_target);
  void end_at_exec(dev_t device, ino_t inode, uint32_t set_target);
  // `follow` says which of its children join the set.
  Status add_member(pid_t pid, uint32_t set_target, Follow follow);
  void remove_member(pid_t pid, uint32_t set_target);
  // Ends the set target: no process belongs to it any more.
  void clear_members(uint32_t set_target);

  // ---- of cgroups ----
  // Cgroups that are made with this name in that parent belong to the set, and all below them.
  Status follow_cgroup(uint64_t parent, const std::string& name, uint32_t set_target);
  // Adds a cgroup that exists. Those that are made in it from now on belong to the set too.
  Status add_cgroup(uint64_t id, uint32_t set_target);
  // Ends the set target.
  void clear_cgroups(uint32_t set_target);
  // Notices report the files that processes of these sets execute from now on, each once for each cgroup, also
  // those that were reported before.
  void report_execs();

  // ---- of both ----
  // A notice reports the next process that joins the set by a fork or an exec. Later ones are not reported until
  // this is called again.
  void listen_for_joining(uint32_t set_target);
  void stop_listening(uint32_t set_target);
  // Ends all set targets but these.
  void end_but(const tc_sets& kept);

 private:
  // Descriptors of the programs' tables.
  struct Tables {
    int executables, families, members;
    int cgroups, cgroup_names;
  };

  Status can_follow() const;
  void end_processes_but(const tc_sets& kept);
  __u64& listening_word(uint32_t set_target);

  tracer& skeleton_;
  Tables tables_;
};

}  // namespace tracectl
