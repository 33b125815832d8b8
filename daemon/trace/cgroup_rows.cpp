// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/trace/cgroup_rows.h"

#include <algorithm>

#include "daemon/model/expr.h"

namespace tracectl {
namespace {

bool is_name(const KeyPart& part) {
  return part.name == name_of(Operand::container) || part.name == name_of(Operand::unit);
}

bool has_name(const RowKey& key) { return std::any_of(key.by.begin(), key.by.end(), is_name); }

void name(KeyPart& part, CgroupNames& names) {
  const auto* id = std::get_if<uint64_t>(&part.value);
  if (!id || !is_name(part)) return;
  const std::string path = names.path_of(*id);
  part.value = part.name == name_of(Operand::unit) ? unit_of(path) : container_of(path);
}

}  // namespace

void name_cgroups(Rows& rows, CgroupNames& names) {
  Rows named;
  for (auto it = rows.begin(); it != rows.end();) {
    if (!has_name(it->first)) {
      ++it;
      continue;
    }
    RowKey key = it->first;
    for (KeyPart& part : key.by) name(part, names);
    Row& row = named[std::move(key)];
    row.shape = it->second.shape;
    row.add(it->second);
    it = rows.erase(it);
  }
  rows.merge(named);
}

}  // namespace tracectl
