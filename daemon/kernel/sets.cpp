// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/kernel/sets.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <sys/sysmacros.h>

#include <cstring>

#include "bpf/tracer.skel.h"
#include "daemon/kernel/set_bits.h"
#include "daemon/kernel/tables.h"

namespace tracectl {
namespace {

// Converts user space's dev_t to the kernel's (include/linux/kdev_t.h, MKDEV).
uint32_t kernel_device(dev_t device) { return (major(device) << 20) | minor(device); }

tc_executable executable_key(dev_t device, ino_t inode) {
  return tc_executable{.inode = inode, .device = kernel_device(device), .pad = 0};
}

Result<tc_cgroup_name> name_key(uint64_t parent, const std::string& name) {
  tc_cgroup_name key{.parent = parent, .name = {}};
  if (name.size() >= sizeof(key.name))
    return Error{Code::unsupported,
                 "the name of the cgroup " + name + " is longer than " +
                     std::to_string(sizeof(key.name) - 1) + " bytes",
                 "target"};
  std::memcpy(key.name, name.data(), name.size());
  return key;
}

Status add_to(int table, const void* key, uint32_t number, const char* what) {
  tc_sets sets{};
  bpf_map_lookup_elem(table, key, &sets);
  sets::put(sets, number, true);
  if (bpf_map_update_elem(table, key, &sets, BPF_ANY)) return Error::from_errno(what);
  return ok();
}

void remove_from(int table, const void* key, uint32_t number) {
  tc_sets sets{};
  if (bpf_map_lookup_elem(table, key, &sets) != 0) return;
  sets::put(sets, number, false);
  sets::put_back(table, key, sets, sets);
}

template <class Key> void clear(int table, uint32_t number) {
  for (const Key& each : tables::keys_of<Key>(table)) remove_from(table, &each, number);
}

template <class Key> void end_sets_of(int table, const tc_sets& kept) {
  for (const Key& key : tables::keys_of<Key>(table)) {
    tc_sets sets{};
    if (bpf_map_lookup_elem(table, &key, &sets) != 0) continue;
    sets = sets::common(sets, kept);
    sets::put_back(table, &key, sets, sets);
  }
}

}  // namespace

Sets::Sets(tracer& skeleton)
    : skeleton_(skeleton),
      tables_({.executables = bpf_map__fd(skeleton.maps.executables),
               .families = bpf_map__fd(skeleton.maps.families),
               .members = bpf_map__fd(skeleton.maps.members),
               .cgroups = bpf_map__fd(skeleton.maps.cgroups),
               .cgroup_names = bpf_map__fd(skeleton.maps.cgroup_names)}) {
  skeleton_.bss->listening = {};  // a former daemon listened for other sets
}

// ---- of processes ----

Status Sets::can_follow() const {
  if (!skeleton_.rodata->in_own_pid_namespace) return ok();
  return Error{Code::unsupported,
               "processes that run a file, or that others fork, are followed by their ids in the "
               "initial PID namespace, and this engine runs in another: choose them by -p"};
}

Status Sets::follow_executable(dev_t device, ino_t inode, uint32_t set_target) {
  if (auto possible = can_follow(); !possible) return possible;
  const tc_executable key = executable_key(device, inode);
  if (bpf_map_update_elem(tables_.executables, &key, &set_target, BPF_ANY))
    return Error::from_errno("follow an executable");
  return ok();
}

void Sets::forget_executable(dev_t device, ino_t inode) {
  const tc_executable key = executable_key(device, inode);
  bpf_map_delete_elem(tables_.executables, &key);
}

Status Sets::keep_at_exec(dev_t device, ino_t inode, uint32_t set_target) {
  if (auto possible = can_follow(); !possible) return possible;
  const tc_executable key = executable_key(device, inode);
  return add_to(tables_.families, &key, set_target, "follow the children of a process");
}

void Sets::end_at_exec(dev_t device, ino_t inode, uint32_t set_target) {
  const tc_executable key = executable_key(device, inode);
  remove_from(tables_.families, &key, set_target);
}

// The value is written as a whole, so if a process forks at the same moment, two of its children may get the sets
// that are for one child only.
Status Sets::add_member(pid_t pid, uint32_t set_target, Follow follow) {
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

void Sets::remove_member(pid_t pid, uint32_t set_target) {
  const uint32_t key = static_cast<uint32_t>(pid);
  tc_member member{};
  if (bpf_map_lookup_elem(tables_.members, &key, &member) != 0) return;
  for (tc_sets* sets : {&member.of, &member.to_children, &member.to_next})
    sets::put(*sets, set_target, false);
  sets::put_back_member(tables_.members, key, member);
}

void Sets::clear_members(uint32_t set_target) {
  for (const uint32_t pid : tables::keys_of<uint32_t>(tables_.members))
    remove_member(static_cast<pid_t>(pid), set_target);
}

void Sets::end_processes_but(const tc_sets& kept) {
  for (const auto& file : tables::keys_of<tc_executable>(tables_.executables)) {
    uint32_t set_target = 0;
    if (bpf_map_lookup_elem(tables_.executables, &file, &set_target) == 0 &&
        !sets::has(kept, set_target))
      bpf_map_delete_elem(tables_.executables, &file);
  }
  end_sets_of<tc_executable>(tables_.families, kept);
  for (const uint32_t pid : tables::keys_of<uint32_t>(tables_.members)) {
    tc_member member{};
    if (bpf_map_lookup_elem(tables_.members, &pid, &member) != 0) continue;
    for (tc_sets* sets : {&member.of, &member.to_children, &member.to_next})
      *sets = sets::common(*sets, kept);
    sets::put_back_member(tables_.members, pid, member);
  }
}

// ---- of cgroups ----

Status Sets::follow_cgroup(uint64_t parent, const std::string& name, uint32_t set_target) {
  const auto key = name_key(parent, name);
  if (!key) return key.error();
  return add_to(tables_.cgroup_names, &*key, set_target, "follow a cgroup by its name");
}

Status Sets::add_cgroup(uint64_t id, uint32_t set_target) {
  return add_to(tables_.cgroups, &id, set_target, "add a cgroup to a target");
}

void Sets::clear_cgroups(uint32_t set_target) {
  clear<uint64_t>(tables_.cgroups, set_target);
  clear<tc_cgroup_name>(tables_.cgroup_names, set_target);
}

void Sets::report_execs() { __atomic_add_fetch(&skeleton_.bss->exec_listing, 1, __ATOMIC_SEQ_CST); }

// ---- of both ----

__u64& Sets::listening_word(uint32_t set_target) {
  return skeleton_.bss->listening.words[set_target / 64];
}

void Sets::listen_for_joining(uint32_t set_target) {
  __atomic_fetch_or(&listening_word(set_target), uint64_t{1} << (set_target % 64),
                    __ATOMIC_SEQ_CST);
}

void Sets::stop_listening(uint32_t set_target) {
  __atomic_fetch_and(&listening_word(set_target), ~(uint64_t{1} << (set_target % 64)),
                     __ATOMIC_SEQ_CST);
}

void Sets::end_but(const tc_sets& kept) {
  end_processes_but(kept);
  end_sets_of<uint64_t>(tables_.cgroups, kept);
  end_sets_of<tc_cgroup_name>(tables_.cgroup_names, kept);
  for (uint32_t i = 0; i < TC_MEMBER_WORDS; ++i)
    __atomic_fetch_and(&listening_word(i * 64), kept.words[i], __ATOMIC_SEQ_CST);
}

}  // namespace tracectl
