// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <span>

#include "daemon/base/result.h"
#include "daemon/model/cost.h"

namespace tracectl {

// Properties of one x86-64 instruction that matter for a uprobe on it.
struct Instruction {
  uint8_t length = 0;  // bytes
  CostClass cost = CostClass::slow;
  const char* refusal =
      nullptr;  // why the kernel's uprobes refuse it (or must be refused); null: accepted
};

// Decodes the instruction at the start of `bytes`, which may be followed by anything. Fails with
// Code::invalid if there is no instruction.
Result<Instruction> decode_instruction(std::span<const uint8_t> bytes);

// Whether `bytes` begin with a nop of five bytes, in any of its forms, which the kernel turns into
// a call (arch/x86/kernel/uprobes.c, can_optimize).
bool is_nop5(std::span<const uint8_t> bytes);

// Whether they begin with such a nop and a return: the site of a probe by <tracectl/usdt.h>, or the
// end of a function. The return address is at the stack pointer, and the memory below is unused.
bool is_nop5_and_return(std::span<const uint8_t> bytes);

}  // namespace tracectl
