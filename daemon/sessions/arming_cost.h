// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "daemon/base/result.h"
#include "daemon/switching/commit.h"

namespace tracectl {

// What new sites take from the machine, by estimate.
struct ArmingCost {
  uint64_t kernel_bytes = 0;
  uint64_t private_bytes = 0;  // of code that each process gets its own copy of, at most
};

// `one_by_one`: the kernel has a perf event for each breakpoint (Switching::disarms_one_by_one()).
ArmingCost arming_cost(const Changes& changes, bool one_by_one);

// Fails if more sites would be added than the user wants to be asked for (field "most_added"). The message has the
// estimate.
Status check_added(const Changes& changes, std::optional<uint64_t> most, bool one_by_one);

}  // namespace tracectl
