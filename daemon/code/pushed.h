// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <optional>

#include "daemon/code/placement.h"

namespace tracectl {

// How many bytes the function has put on the stack when the instruction at this offset of its
// straight-line entry code is about to run; none where that is not known.
std::optional<uint32_t> pushed_before(const CodeRange& function, uint64_t offset);

// Whether the function calls nothing, not the kernel either, leaves by returns only, and touches
// nothing of its stack but what lies below the return address: then that address may be replaced
// while it runs. What switches stacks (swapcontext), or saves where it was called from (setjmp, vfork),
// calls nothing, and is none.
bool is_leaf(const FunctionCode& function);

}  // namespace tracectl
