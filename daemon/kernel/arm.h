// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <variant>

#include "daemon/kernel/breakpoints.h"
#include "daemon/kernel/kernel.h"
#include "daemon/kernel/programs.h"

namespace tracectl {

// Arms every site of the request with one link, and the exits of their functions with another, or
// none and names those that stood in the way.
// `closing`: borrowed; what the link is closed by. With `ignore` probes on 5-byte nops are kept
// breakpoints, see kernel/breakpoints.h.
std::variant<Link, ArmFailure> arm_sites(LongWork& closing, const Programs::OfWay& programs,
                                         const ArmRequest& request, const IgnoreHits& ignore);

}  // namespace tracectl
