// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <optional>

#include "daemon/code/placement.h"

namespace tracectl {

// How many bytes the function has put on the stack when the instruction at this offset of its
// straight-line entry code is about to run; none where that is not known.
std::optional<uint32_t> pushed_before(const CodeRange& function, uint64_t offset);

// Whether the function calls nothing and leaves by returns only: then nothing but a signal's handler
// runs while it does.
bool is_leaf(const FunctionCode& function);

}  // namespace tracectl
