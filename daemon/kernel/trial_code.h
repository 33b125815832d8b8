// SPDX-License-Identifier: BSD-2-Clause
//
// The functions that the kernel's handling of uprobes is tried out on, in assembler. The folder of each machine has them.
#pragma once

#include <cstdint>

namespace tracectl {

// Each starts with, or contains, the instruction of its name.
enum class TrialFunction : uint8_t {
  nop,             // the shortest nop first
  nop5,            // a 5-byte nop first
  stepped,         // first an instruction that the kernel single-steps
  red_zone,        // a leaf with a 5-byte nop while its red zone holds data
  nop10,           // first the 10-byte nop with a cs prefix, which uprobes refuse before Linux 7.2
  nop10_red_zone,  // a leaf with such a nop while its red zone holds data
  unsupported,     // first an instruction that uprobes refuse on every kernel
  system_call,     // makes one that a filter which knows nothing of it stops
};

struct TrialCode {
  uint64_t (*function)() = nullptr;  // returns whether its data has changed
  const void* site = nullptr;        // the instruction
  const void* exit = nullptr;        // for nop, nop5 and stepped: the one that returns
};

// Without either if the machine has no such instruction.
TrialCode code_of(TrialFunction function);

// Where a uprobe's program sees the registers: offsets in struct pt_regs.
struct TrialRegisters {
  int16_t result;
  int16_t instruction_pointer;
  int32_t
      nop_to_return;  // bytes from the nop of TrialFunction::nop to the instruction that returns
};
TrialRegisters trial_registers();

}  // namespace tracectl
