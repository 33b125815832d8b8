// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "daemon/base/result.h"
#include "daemon/object/x86_64/placement.h"

namespace tracectl {

// The error that a function's exits are not known because of the instruction at this address.
Error no_exits(uint64_t address, const std::string& why);

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
  nothing,      // ud2, hlt, int3
};

// One instruction in its function's flow of control.
struct CodeStep {
  uint64_t address = 0;
  uint64_t target = 0;  // of a direct jump or call, else 0
  std::span<const uint8_t> bytes;
  Flow flow = Flow::next;
  bool has_target = false;
  bool moves_stack = false;     // may write rsp, or copy it into rbp
  bool loads_by_index = false;  // from memory, as if from a table of offsets or addresses
  uint32_t jumps_here = 0;      // direct jumps in this function
  uint32_t last_jump_here = 0;  // the step of one of them

  uint64_t end() const { return address + bytes.size(); }
};

// All instructions of a function, from each range's first byte to its last.
//
// Sequential decoding can go wrong if data lies between instructions. If it went wrong and the data
// is followed by code, that code's own jumps do not fit. So in a listing in which every direct jump
// and call into the function arrives at a step, each instruction that the entry reaches by direct
// jumps is a step (by induction: the entry is a step; so is the instruction after a step; so is the
// target of a step's jump).
class Listing {
 public:
  // Fails with Code::unsupported, and the reason, if the code has no such listing. Keeps the spans.
  static Result<Listing> of(const FunctionCode& function);

  const std::vector<CodeStep>& steps() const { return steps_; }
  const CodeStep& operator[](size_t index) const { return steps_[index]; }
  size_t size() const { return steps_.size(); }

  bool contains(uint64_t address) const;             // in a range of the function
  std::optional<size_t> at(uint64_t address) const;  // the step that starts there
  std::optional<size_t> behind(size_t index) const;  // the next step, if there is no gap
  bool loads_by_index() const { return loads_by_index_; }

 private:
  struct Range {
    uint64_t address;
    uint64_t size;
    size_t first_byte;  // in step_of_byte_
  };

  Status add(const CodeRange& range);
  Status check_targets();
  Status check_target(const CodeStep& from, size_t index);
  uint32_t step_without_lock(size_t byte) const;
  const Range* range_of(uint64_t address) const;

  std::vector<CodeStep> steps_;
  std::vector<Range> ranges_;
  std::vector<uint32_t> step_of_byte_;  // kNone within an instruction
  bool loads_by_index_ = false;
};

}  // namespace tracectl
