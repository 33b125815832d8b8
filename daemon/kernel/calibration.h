// SPDX-License-Identifier: BSD-2-Clause
//
// What the kernel and the processor take for a probe besides its program, measured in children of our own.
#pragma once

#include "bpf/abi.h"
#include "daemon/kernel/emulator.h"

namespace tracectl {

// Measured by the first call, which takes some tens of ms: medians of batches of calls of functions that do nothing. A
// thread of its own disarms the probes afterwards. 0 for what this kernel has no way for, or could not be measured; then
// the next call tries again. `emulator` may be null, and is then not used; what one took is the answer for all.
// Thread-safe.
tc_hit_costs hit_costs(Emulator* emulator);

}  // namespace tracectl
