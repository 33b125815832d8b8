// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "daemon/code/indirect_jump.h"
#include "daemon/code/placement.h"
#include "daemon/model/argument.h"

namespace tracectl {

// A call of what a register or memory says, or a jump that is one in tail position.
struct IndirectCall {
  uint64_t address = 0;               // of the instruction, in the file's own address space
  Argument callee;                    // what it leads to, when it is about to be executed
  std::optional<uint64_t> slot = {};  // the word that says it, where no register has a say in which
};

// Those of a function, in the order of its ranges; none where it is not sure how far it goes and that all
// of it is code. Jumps only where it is sure that they lead out of it.
std::vector<IndirectCall> indirect_calls(const FunctionCode& function, const ReadFile& read);

}  // namespace tracectl
