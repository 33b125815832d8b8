// SPDX-License-Identifier: BSD-2-Clause
//
// One instruction in its function's flow of control. The functions at the end are defined by the room of each machine
// (daemon/object/x86_64, daemon/object/aarch64), of which one is compiled.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace tracectl {

// The ways in which execution continues after an instruction.
enum class Flow : uint8_t {
  next,         // at the next instruction, always
  call,         // at its target, then mostly at the next one
  conditional,  // at the next one, or at its target
  odd_branch,   // like `conditional`, but without flags: loop, jrcxz, xbegin
  jump,         // at its target
  indirect,     // at an address from a register or memory
  ret,          // in the caller
  far_away,     // far jumps and returns, iret: another segment
  nothing,      // nowhere: it faults
};

// One instruction in its function's flow of control.
struct CodeStep {
  uint64_t address = 0;
  uint64_t target = 0;  // of a direct jump or call, else 0
  std::span<const uint8_t> bytes;
  Flow flow = Flow::next;
  bool has_target = false;
  bool moves_stack = false;     // may write the stack pointer, or copy it into the frame pointer
  bool loads_by_index = false;  // from memory, as if from a table of offsets or addresses
  uint8_t prefix_bytes = 0;     // that a jump may skip: it is the same instruction without them
  uint32_t jumps_here = 0;      // direct jumps in this function
  uint32_t last_jump_here = 0;  // the step of one of them

  uint64_t end() const { return address + bytes.size(); }
};

// The instruction at the start of `bytes`, which may be followed by anything; the span is kept. None if there is none.
std::optional<CodeStep> step_at(uint64_t address, std::span<const uint8_t> bytes);

bool is_nop(const CodeStep& step);

// Of a conditional jump: Exit::condition.
uint8_t condition_of(const CodeStep& step);

// Whether the function could go on with another return address than its caller gave it: the instruction neither
// enters the kernel nor reads or writes where the address is kept.
bool leaves_return_address_alone(const CodeStep& step);

}  // namespace tracectl
