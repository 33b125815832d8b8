// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "daemon/base/result.h"
#include "daemon/object/code/placement.h"
#include "daemon/object/code/step.h"

namespace tracectl {

// The error that a function's exits are not known because of the instruction at this address.
Error no_exits(uint64_t address, const std::string& why);

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
  // The only step that leads to this one, if there is only one.
  std::optional<size_t> only_before(size_t index) const;
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
  uint32_t step_without_prefix(size_t byte) const;
  const Range* range_of(uint64_t address) const;

  std::vector<CodeStep> steps_;
  std::vector<Range> ranges_;
  std::vector<uint32_t> step_of_byte_;  // kNone within an instruction
  bool loads_by_index_ = false;
};

}  // namespace tracectl
