// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/object/code/placement.h"

#include <string>

#include "daemon/object/aarch64/encoding.h"

namespace tracectl {

// The probe stays at the entry: there the return address is in x30, and nothing is on the stack.
Result<Placement> place_entry(const FunctionCode& function, const SiteCosts& costs) {
  return place(function.body.bytes, 0, costs);
}

Placement place_in_header_site(const SiteCosts&) { return {0, CostClass::slow, kInstructionBytes}; }

Status nop5_is_safe(const FunctionCode&, uint64_t offset) {
  return Error{Code::invalid, "there is no 5-byte nop at +" + std::to_string(offset)};
}

}  // namespace tracectl
