// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/kernel/cgroup_sets.h"

#include <bpf/bpf.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "bpf/abi.h"

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

void set_bit(tc_sets& sets, uint32_t number, bool in) {
  const uint64_t bit = uint64_t{1} << (number % 64);
  auto& word = sets.words[number / 64];
  word = in ? word | bit : word & ~bit;
}

bool has_none(const tc_sets& sets) {
  return std::all_of(std::begin(sets.words), std::end(sets.words),
                     [](uint64_t word) { return word == 0; });
}

Status add_to(int table, const void* key, uint32_t number, const char* what) {
  tc_sets sets{};
  bpf_map_lookup_elem(table, key, &sets);
  set_bit(sets, number, true);
  if (bpf_map_update_elem(table, key, &sets, BPF_ANY)) return Error::from_errno(what);
  return ok();
}

void remove_from(int table, const void* key, uint32_t number) {
  tc_sets sets{};
  if (bpf_map_lookup_elem(table, key, &sets) != 0) return;
  set_bit(sets, number, false);
  if (has_none(sets))
    bpf_map_delete_elem(table, key);
  else
    bpf_map_update_elem(table, key, &sets, BPF_EXIST);
}

template <class Key> void clear(int table, uint32_t number) {
  std::vector<Key> keys;
  Key key{};
  for (const Key* previous = nullptr; bpf_map_get_next_key(table, previous, &key) == 0;
       previous = &key)
    keys.push_back(key);
  for (const Key& each : keys) remove_from(table, &each, number);
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

}  // namespace tracectl
