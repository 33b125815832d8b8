// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/sessions/cgroup_rows.h"

#include "daemon/model/expr.h"
#include "daemon/sessions/renamed_rows.h"

namespace tracectl {
namespace {

bool is_name(const KeyPart& part) {
  return part.name == name_of(Operand::container) || part.name == name_of(Operand::unit);
}

}  // namespace

void name_cgroups(Rows& rows, CgroupNames& names) {
  rename_keys(rows, [&](KeyPart& part) {
    const auto* id = std::get_if<uint64_t>(&part.value);
    if (!id || !is_name(part)) return false;
    const std::string path = names.path_of(*id);
    part.value = part.name == name_of(Operand::unit) ? unit_of(path) : container_of(path);
    return true;
  });
}

}  // namespace tracectl
