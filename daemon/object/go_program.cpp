// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/object/go_program.h"

#include <algorithm>

#include "daemon/object/go_functions.h"

namespace tracectl {

// Go's linker names so what is called by ABI0, if there is also a function for ABIInternal.
GoCode go_code_of(const ElfFile& file, const Function& function) {
  const auto* all = file.go_functions();
  if (!all) return GoCode::none;
  if (!*all) return GoCode::unknown;
  const auto found = std::ranges::lower_bound(**all, function.address, {}, &GoFunction::address);
  if (found == (*all)->end() || found->address != function.address) return GoCode::none;
  if (found->is_assembly) return GoCode::assembly;
  return function.name.ends_with(".abi0") ? GoCode::wrapper : GoCode::compiled;
}

bool has_go_entry(const ElfFile& file, const Function& function) {
  const GoCode code = go_code_of(file, function);
  return code != GoCode::none && code != GoCode::assembly;
}

std::string why_go_is_unknown(const ElfFile& file) {
  const auto* all = file.go_functions();
  return all && !*all ? all->error().message : "";
}

}  // namespace tracectl
