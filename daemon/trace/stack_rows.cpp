// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/trace/stack_rows.h"

#include "daemon/trace/renamed_rows.h"

namespace tracectl {

void name_stacks(Rows& rows, Symbolizer& symbolizer) {
  rename_keys(rows, [&](KeyPart& part) {
    const auto* addresses = std::get_if<StackAddresses>(&part.value);
    if (!addresses) return false;
    Stack stack = symbolizer.stack_of(*addresses);
    for (Frame& frame : stack.frames)
      if (!frame.module.empty()) frame.address = 0;
    part.value = std::move(stack);
    return true;
  });
}

}  // namespace tracectl
