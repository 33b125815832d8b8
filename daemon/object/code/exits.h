// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "daemon/base/result.h"
#include "daemon/model/cost.h"
#include "daemon/object/code/indirect_jump.h"
#include "daemon/object/code/placement.h"

namespace tracectl {

enum class ExitKind {
  ret,
  tail_jump,              // to `target`, which returns in place of this function
  conditional_tail_jump,  // likewise if `condition` holds; else the function continues
  indirect_tail_jump,     // to the address in a pointer
};

const char* name_of(ExitKind kind);

// An instruction by which a function exits. There the function's own frame is gone: the return
// address is on top of the stack, or in x30. At a `ret` rax or x0 has the result; at a tail jump
// there is no result yet.
struct Exit {
  uint64_t address = 0;  // of the instruction, in the file's own address space
  uint64_t target = 0;   // of the direct jumps, else 0
  ExitKind kind = ExitKind::ret;
  // Of a conditional one: the low 4 bits of the opcode (Intel SDM, Jcc) or of the instruction (Arm
  // ARM, B.cond).
  uint8_t condition = 0;
  uint8_t length = 0;  // bytes
  CostClass cost = CostClass::slow;
  const char* refusal = nullptr;  // why no probe can be placed on it, or null

  bool operator==(const Exit&) const = default;
};

// Other knowledge about the file; each may be empty. Addresses are in the file's own address space.
struct Surroundings {
  // Used for the tables of switches.
  ReadFile read = {};
  // The code around an address, from the unwind tables (an FDE's range), which stripped files have,
  // too; none for the linker's stubs. The caller owns the bytes.
  std::function<std::optional<CodeRange>(uint64_t address)> part_at = {};
  // Whether a function is known to start there.
  std::function<bool(uint64_t address)> is_function = {};
};

// All instructions by which the function exits to its caller or, in tail position, to another
// function, sorted by address. `others` are its further parts: jumps between them and the body are
// not exits. A jump to the function's own entry is an exit, with that entry as target: a probe
// there fires again with the stack pointer of the open call, which therefore ends at the jump. The
// list is empty for a function that never returns. Calls of functions that do not return,
// exceptions and longjmp are not included.
//
// gcc's .cold parts have no symbols in stripped files, and a jump to one looks like a tail jump.
// They are recognized by `part_at`, as code that is jumped to with something left on the stack, or
// that jumps back into the middle of the function, or that never returns.
//
// Fails with Code::unsupported and the reason if the list might be wrong: the symbol has no size;
// bytes that are no instruction; a jump into the middle of one; a call of a place within the
// function; a jump through a register that may lead anywhere; a part of it that is not known; code
// that runs past its end; a jump to its entry by a table, or with something left on the stack; a
// jump out of it that is conditional, or in code that no known path reaches (a landing pad), to a
// target that is not known to be a function.
Result<std::vector<Exit>> find_exits(const FunctionCode& function,
                                     const Surroundings& surroundings = {});

}  // namespace tracectl
