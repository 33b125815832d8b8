// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <variant>

#include "daemon/kernel/kernel.h"

namespace tracectl {

// Arms every site of the request with one link, or none and names those that stood in the way.
// `keep_breakpoints`: also on 5-byte nops, see kernel/breakpoints.h.
std::variant<Link, ArmFailure> arm_sites(int program_fd, const ArmRequest& request,
                                         bool keep_breakpoints);

}  // namespace tracectl
