// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "daemon/object/code/placement.h"

namespace tracectl {

// The addresses outside a function that its code calls or refers to. Addresses are in the file's
// own address space; each list is sorted, without duplicates. Whether anything is there was not
// checked.
struct CallTargets {
  std::vector<uint64_t> called;    // by direct calls and jumps
  std::vector<uint64_t> slots;     // words that an indirect call or jump reads its target from
  std::vector<uint64_t> loaded;    // words that other instructions read or write
  std::vector<uint64_t> referred;  // formed relative to the instruction: lea x(%rip), adrp and add
  // Immediates and displacements of 32 bits and more: addresses in a file that is linked to run at
  // a fixed address, other numbers elsewhere.
  std::vector<uint64_t> constants;
  // Calls through a register or computed memory, and jumps through computed memory without an
  // index. A jump through a register is mostly a switch, so it does not count.
  bool calls_unknown = false;
};

// Decodes each range from start to end. After bytes that are no instruction it continues at the
// next byte, so data between instructions may add false targets.
CallTargets call_targets(const FunctionCode& function);

// The word through which a linker's stub with these bytes jumps: an indirect jump, with or without
// endbr64 or bti before it, and with what computes its address. None for other code.
std::optional<uint64_t> slot_of_stub(const CodeRange& code);

}  // namespace tracectl
