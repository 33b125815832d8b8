// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/kernel/process_sets.h"

#include <bpf/bpf.h>
#include <sys/sysmacros.h>

#include <string>

#include "bpf/abi.h"
#include "daemon/kernel/sets.h"

namespace tracectl {
namespace {

// Converts user space's dev_t to the kernel's (include/linux/kdev_t.h, MKDEV).
uint32_t kernel_device(dev_t device) { return (major(device) << 20) | minor(device); }

tc_executable executable_key(dev_t device, ino_t inode) {
  return tc_executable{.inode = inode, .device = kernel_device(device), .pad = 0};
}

}  // namespace

Status ProcessSets::can_follow() const {
  if (!in_own_pid_namespace_) return ok();
  return Error{Code::unsupported,
               "processes that run a file, or that others fork, are followed by their ids in the "
               "initial PID namespace, and this engine runs in another: choose them by -p"};
}

Status ProcessSets::follow_executable(dev_t device, ino_t inode, uint32_t set_target) {
  if (auto possible = can_follow(); !possible) return possible;
  const tc_executable key = executable_key(device, inode);
  if (bpf_map_update_elem(tables_.executables, &key, &set_target, BPF_ANY))
    return Error::from_errno("follow an executable");
  return ok();
}

void ProcessSets::forget_executable(dev_t device, ino_t inode) {
  const tc_executable key = executable_key(device, inode);
  bpf_map_delete_elem(tables_.executables, &key);
}

Status ProcessSets::keep_at_exec(dev_t device, ino_t inode, uint32_t set_target) {
  if (auto possible = can_follow(); !possible) return possible;
  const tc_executable key = executable_key(device, inode);
  tc_sets kept{};
  bpf_map_lookup_elem(tables_.families, &key, &kept);
  sets::put(kept, set_target, true);
  if (bpf_map_update_elem(tables_.families, &key, &kept, BPF_ANY))
    return Error::from_errno("follow the children of a process");
  return ok();
}

void ProcessSets::end_at_exec(dev_t device, ino_t inode, uint32_t set_target) {
  const tc_executable key = executable_key(device, inode);
  tc_sets kept{};
  if (bpf_map_lookup_elem(tables_.families, &key, &kept) != 0) return;
  sets::put(kept, set_target, false);
  sets::put_back(tables_.families, &key, kept, kept);
}

// The value is written as a whole, so if a process forks at the same moment, two of its children may get the sets
// that are for one child only.
Status ProcessSets::add_member(pid_t pid, uint32_t set_target, Follow follow) {
  const uint32_t key = static_cast<uint32_t>(pid);
  tc_member member{};
  bpf_map_lookup_elem(tables_.members, &key, &member);
  sets::put(member.of, set_target, true);
  sets::put(member.to_children, set_target, follow == Follow::children);
  sets::put(member.to_next, set_target, follow == Follow::first_child);
  if (bpf_map_update_elem(tables_.members, &key, &member, BPF_ANY))
    return Error::from_errno("add process " + std::to_string(pid) + " to a target");
  return ok();
}

void ProcessSets::remove_member(pid_t pid, uint32_t set_target) {
  const uint32_t key = static_cast<uint32_t>(pid);
  tc_member member{};
  if (bpf_map_lookup_elem(tables_.members, &key, &member) != 0) return;
  for (tc_sets* sets : {&member.of, &member.to_children, &member.to_next})
    sets::put(*sets, set_target, false);
  sets::put_back_member(tables_.members, key, member);
}

void ProcessSets::clear_members(uint32_t set_target) {
  for (const uint32_t pid : sets::keys_of<uint32_t>(tables_.members))
    remove_member(static_cast<pid_t>(pid), set_target);
}

void ProcessSets::end_sets_but(const tc_sets& kept) {
  for (const auto& file : sets::keys_of<tc_executable>(tables_.executables)) {
    uint32_t set_target = 0;
    if (bpf_map_lookup_elem(tables_.executables, &file, &set_target) == 0 &&
        !sets::has(kept, set_target))
      bpf_map_delete_elem(tables_.executables, &file);
  }
  for (const auto& file : sets::keys_of<tc_executable>(tables_.families)) {
    tc_sets sets{};
    if (bpf_map_lookup_elem(tables_.families, &file, &sets) != 0) continue;
    sets = sets::common(sets, kept);
    sets::put_back(tables_.families, &file, sets, sets);
  }
  for (const uint32_t pid : sets::keys_of<uint32_t>(tables_.members)) {
    tc_member member{};
    if (bpf_map_lookup_elem(tables_.members, &pid, &member) != 0) continue;
    for (tc_sets* sets : {&member.of, &member.to_children, &member.to_next})
      *sets = sets::common(*sets, kept);
    sets::put_back_member(tables_.members, pid, member);
  }
}

}  // namespace tracectl
