// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/kernel/cgroup_sets.h"

#include <bpf/bpf.h>

#include <cstring>

#include "bpf/abi.h"
#include "daemon/kernel/sets.h"

namespace tracectl {
namespace {

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
  for (const Key& each : sets::keys_of<Key>(table)) remove_from(table, &each, number);
}

template <class Key> void end_but(int table, const tc_sets& kept) {
  for (const Key& key : sets::keys_of<Key>(table)) {
    tc_sets sets{};
    if (bpf_map_lookup_elem(table, &key, &sets) != 0) continue;
    sets = sets::common(sets, kept);
    sets::put_back(table, &key, sets, sets);
  }
}

}  // namespace

Status CgroupSets::follow_cgroup(uint64_t parent, const std::string& name, uint32_t set_target) {
  const auto key = name_key(parent, name);
  if (!key) return key.error();
  return add_to(tables_.names, &*key, set_target, "follow a cgroup by its name");
}

Status CgroupSets::add_cgroup(uint64_t id, uint32_t set_target) {
  return add_to(tables_.cgroups, &id, set_target, "add a cgroup to a target");
}

void CgroupSets::clear_cgroups(uint32_t set_target) {
  clear<uint64_t>(tables_.cgroups, set_target);
  clear<tc_cgroup_name>(tables_.names, set_target);
}

void CgroupSets::end_sets_but(const tc_sets& kept) {
  end_but<uint64_t>(tables_.cgroups, kept);
  end_but<tc_cgroup_name>(tables_.names, kept);
}

}  // namespace tracectl
