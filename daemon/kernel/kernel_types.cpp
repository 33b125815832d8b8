// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/kernel/kernel_types.h"

#include <bpf/btf.h>

#include <string_view>

namespace tracectl {

KernelTypes::KernelTypes() : types_(btf__load_vmlinux_btf(), btf__free) {}

int KernelTypes::id_of(const char* name, unsigned kind) const {
  return types_ ? btf__find_by_name_kind(types_.get(), name, kind) : -1;
}

bool KernelTypes::has_variable(const char* name) const { return id_of(name, BTF_KIND_VAR) > 0; }

bool KernelTypes::has_function(const char* name) const { return id_of(name, BTF_KIND_FUNC) > 0; }

bool KernelTypes::has_member(const char* structure, const char* member) const {
  const int id = id_of(structure, BTF_KIND_STRUCT);
  if (id <= 0) return false;
  const btf_type* type = btf__type_by_id(types_.get(), static_cast<__u32>(id));
  const btf_member* members = btf_members(type);
  for (__u32 i = 0; i < btf_vlen(type); ++i)
    if (std::string_view(btf__name_by_offset(types_.get(), members[i].name_off)) == member)
      return true;
  return false;
}

}  // namespace tracectl
