// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <memory>

#include "daemon/kernel/kernel.h"

namespace tracectl {

// Loads the programs and stands behind the door for real. Needs CAP_BPF and CAP_PERFMON.
Result<std::unique_ptr<Kernel>> open_kernel();

}  // namespace tracectl
