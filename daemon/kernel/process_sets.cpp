// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/kernel/process_sets.h"

#include <bpf/bpf.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <string>
#include <vector>

#include "bpf/abi.h"

namespace tracectl {
namespace {

// user space's dev_t to the kernel's own: include/linux/kdev_t.h, MKDEV.
uint32_t kernel_device(dev_t device) { return (major(device) << 20) | minor(device); }

tc_executable executable_key(dev_t device, ino_t inode) {
  return tc_executable{.inode = inode, .device = kernel_device(device), .pad = 0};
}

void put(tc_sets& sets, uint32_t number, bool in) {
  const uint64_t bit = uint64_t{1} << (number % 64);
  auto& word = sets.words[number / 64];
  word = in ? word | bit : word & ~bit;
}

bool is_empty(const tc_sets& sets) {
  return std::all_of(std::begin(sets.words), std::end(sets.words),
                     [](uint64_t word) { return word == 0; });
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
  put(kept, set_target, true);
  if (bpf_map_update_elem(tables_.families, &key, &kept, BPF_ANY))
    return Error::from_errno("follow the children of a process");
  return ok();
}

void ProcessSets::end_at_exec(dev_t device, ino_t inode, uint32_t set_target) {
  const tc_executable key = executable_key(device, inode);
  tc_sets kept{};
  if (bpf_map_lookup_elem(tables_.families, &key, &kept) != 0) return;
  put(kept, set_target, false);
  if (is_empty(kept))
    bpf_map_delete_elem(tables_.families, &key);
  else
    bpf_map_update_elem(tables_.families, &key, &kept, BPF_EXIST);
}

// What a fork of this very moment takes of what is for one child it may take twice: the value is
// written whole.
Status ProcessSets::add_member(pid_t pid, uint32_t set_target, Follow follow) {
  const uint32_t key = static_cast<uint32_t>(pid);
  tc_member member{};
  bpf_map_lookup_elem(tables_.members, &key, &member);
  put(member.of, set_target, true);
  put(member.to_children, set_target, follow == Follow::children);
  put(member.to_next, set_target, follow == Follow::first_child);
  if (bpf_map_update_elem(tables_.members, &key, &member, BPF_ANY))
    return Error::from_errno("add process " + std::to_string(pid) + " to a target");
  return ok();
}

void ProcessSets::remove_member(pid_t pid, uint32_t set_target) {
  const uint32_t key = static_cast<uint32_t>(pid);
  tc_member member{};
  if (bpf_map_lookup_elem(tables_.members, &key, &member) != 0) return;
  for (tc_sets* sets : {&member.of, &member.to_children, &member.to_next})
    put(*sets, set_target, false);
  if (is_empty(member.of))
    bpf_map_delete_elem(tables_.members, &key);
  else
    bpf_map_update_elem(tables_.members, &key, &member, BPF_EXIST);
}

void ProcessSets::clear_members(uint32_t set_target) {
  std::vector<uint32_t> pids;
  uint32_t key = 0;
  for (const uint32_t* previous = nullptr;
       bpf_map_get_next_key(tables_.members, previous, &key) == 0; previous = &key)
    pids.push_back(key);
  for (uint32_t pid : pids) remove_member(static_cast<pid_t>(pid), set_target);
}

}  // namespace tracectl
