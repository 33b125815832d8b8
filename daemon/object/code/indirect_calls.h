// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "daemon/model/argument.h"
#include "daemon/object/code/indirect_jump.h"
#include "daemon/object/code/placement.h"

namespace tracectl {

// A call through a register or memory, or a jump that is one in tail position.
struct IndirectCall {
  uint64_t address = 0;               // of the instruction, in the file's own address space
  Argument callee;                    // the target, when the instruction is about to run
  std::optional<uint64_t> slot = {};  // the word with the target, if its address uses no register
};

// Those of a function, in the order of its ranges. None if it is not certain where the function
// ends and that all of it is code. Includes jumps only if they certainly lead out of it.
std::vector<IndirectCall> indirect_calls(const FunctionCode& function, const ReadFile& read);

}  // namespace tracectl
