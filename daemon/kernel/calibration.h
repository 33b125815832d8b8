// SPDX-License-Identifier: BSD-2-Clause
//
// What the kernel and the processor take for a probe besides its program, measured in children of our own.
#pragma once

#include <chrono>

#include "bpf/abi.h"
#include "daemon/kernel/emulator.h"

namespace tracectl {

// The machine is not always as fast: a neighbour may use the same core.
inline constexpr std::chrono::minutes kCalibrationHolds{1};

// The first call measures, and so does one when that no longer holds, which takes some tens of ms: medians of batches of
// calls of functions that do nothing. A thread of its own disarms the probes afterwards. 0: this kernel has no such way,
// or no measurement has succeeded yet; then the next call tries again. `emulator` may be null, and is then not used; what one took is the answer for all.
// Thread-safe.
tc_hit_costs hit_costs(Emulator* emulator);

}  // namespace tracectl
