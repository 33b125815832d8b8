// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>

#include "daemon/base/result.h"
#include "daemon/object/code/placement.h"

namespace tracectl {

// The offset at which each call of a function that Go's compiler made passes once. Such a function begins with a check
// whether its stack is large enough; if not, it asks for a larger one and jumps to its entry, so that a call may pass
// the entry twice. Arguments are in the same registers behind the check, and nothing is on the stack yet. Without a
// check it is 0.
//
// Fails with Code::unsupported, and the reason, if the function also jumps to its entry for another cause.
Result<uint64_t> go_entry(const FunctionCode& function);

// The place for a probe there. It moves over no instruction to a cheaper one: each may write a register of Go's
// arguments.
Result<Placement> place_go_entry(const FunctionCode& function, const SiteCosts& costs = {});

}  // namespace tracectl
