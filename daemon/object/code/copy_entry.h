// SPDX-License-Identifier: BSD-2-Clause
//
// Whether a probe where a copy of an inlined function begins is hit once for each of its calls.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "daemon/object/code/indirect_jump.h"
#include "daemon/object/code/placement.h"

namespace tracectl {

// Of code, in the file's own address space; the end is the first address behind it.
struct CodeSpan {
  uint64_t begin = 0, end = 0;

  auto operator<=>(const CodeSpan&) const = default;
};
using CodeSpans = std::vector<CodeSpan>;

// The flow of control in a function into which others were inlined.
class HostFlow {
 public:
  // Keeps the spans of the function.
  HostFlow(const FunctionCode& function, const ReadFile& read);
  ~HostFlow();

  // Why the instruction at `entry`, where the copy with this code begins, may be executed more or less often than the copy
  // is entered: within the copy it is reached again; the copy is also entered elsewhere; or, unless the compiler has said
  // that it begins there, it may be executed ahead. Empty if it is not so by all jumps of the function.
  std::string why_not_entered_there(const CodeSpans& copy, uint64_t entry,
                                    bool is_entry_said) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;  // null: its code cannot be followed
};

}  // namespace tracectl
