// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <optional>

#include "daemon/code/listing.h"

namespace tracectl {

// How many bytes a function has put on the stack: 0 where its return address is on top, which is
// where it can leave. nullopt where that is not known, or differs from way to way.
struct StackHeight {
  std::optional<int64_t> bytes = 0;
  std::optional<int64_t> frame = {};  // what `bytes` was when rbp was made a copy of rsp

  bool operator==(const StackHeight&) const = default;
};

StackHeight after(const CodeStep& step, const StackHeight& before);

// What is known where two ways meet.
StackHeight either(const StackHeight& one, const StackHeight& other);

}  // namespace tracectl
