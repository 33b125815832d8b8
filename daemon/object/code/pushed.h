// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <optional>

#include "daemon/object/code/placement.h"

namespace tracectl {

// How many bytes the function has put on the stack before the instruction at this offset of its
// straight-line entry code; none if not known.
std::optional<uint32_t> pushed_before(const CodeRange& function, uint64_t offset);

// Whether the function calls nothing, not even the kernel, exits only by returns, and accesses its
// stack only below the return address: then that address may be replaced while it runs. A function
// that switches stacks (swapcontext), or saves its return address (setjmp, vfork), also calls
// nothing, but is not a leaf.
bool is_leaf(const FunctionCode& function);

}  // namespace tracectl
