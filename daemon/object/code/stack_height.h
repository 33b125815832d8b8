// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <optional>

#include "daemon/object/code/listing.h"

namespace tracectl {

// How many bytes a function has put on the stack. At 0 the stack is as its caller left it, so it can
// exit. nullopt if not known, or if paths differ.
struct StackHeight {
  std::optional<int64_t> bytes = 0;
  std::optional<int64_t> frame = {};  // the value of `bytes` that the frame pointer stands for

  bool operator==(const StackHeight&) const = default;
};

StackHeight after(const CodeStep& step, const StackHeight& before);

// The common knowledge of two paths that join.
StackHeight either(const StackHeight& one, const StackHeight& other);

}  // namespace tracectl
