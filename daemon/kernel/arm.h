// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <variant>

#include "daemon/kernel/breakpoints.h"
#include "daemon/kernel/kernel.h"

namespace tracectl {

// Arms every site of the request with one link, or none and names those that stood in the way.
// With `ignore` probes on 5-byte nops are kept breakpoints, see kernel/breakpoints.h.
std::variant<Link, ArmFailure> arm_sites(int program_fd, const ArmRequest& request,
                                         const IgnoreHits& ignore);

}  // namespace tracectl
