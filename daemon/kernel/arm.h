// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <variant>

#include "daemon/kernel/breakpoints.h"
#include "daemon/kernel/emulator.h"
#include "daemon/kernel/link.h"
#include "daemon/kernel/programs.h"

namespace tracectl {

// Arms every site of the request with one link, and the exits of their functions with another. If one
// cannot be armed, arms none and says which. `closing` closes the link; it is borrowed. With `ignore`,
// probes on 5-byte nops stay breakpoints (kernel/breakpoints.h). With `emulator`, it carries out the instructions of
// CostClass::emulated.
std::variant<Link, ArmFailure> arm_sites(LongWork& closing, const Programs::OfWay& programs,
                                         const ArmRequest& request, const IgnoreHits& ignore,
                                         Emulator* emulator);

}  // namespace tracectl
