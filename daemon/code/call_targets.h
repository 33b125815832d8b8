// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "daemon/code/placement.h"

namespace tracectl {

// What the code of a function calls and refers to outside of it. Addresses are in the file's own
// address space; those of each list are sorted, each once. Nobody has checked that anything is
// there.
struct CallTargets {
  std::vector<uint64_t> called;    // by direct calls and jumps
  std::vector<uint64_t> slots;     // words that an indirect call or jump reads its target from
  std::vector<uint64_t> loaded;    // words that other instructions read or write
  std::vector<uint64_t> referred;  // formed relative to the instruction: lea x(%rip)
  // Immediates and displacements of 32 bits and more: addresses in a file that is linked to run at
  // one place, mere numbers in others.
  std::vector<uint64_t> constants;
  // Calls through a register or computed memory, and jumps through the latter but by an index. A
  // jump through a register is mostly a switch, so it does not count.
  bool calls_unknown = false;
};

// Decodes straight through every range. Where the bytes are no instruction it goes on at the next
// byte, so that data between instructions may add targets that are none.
CallTargets call_targets(const FunctionCode& function);

// The word that a linker's stub jumps through, of which these are the bytes: an indirect jump,
// after endbr64 or not. Nothing for other code.
std::optional<uint64_t> slot_of_stub(const CodeRange& code);

}  // namespace tracectl
