// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "daemon/kernel/kernel.h"
#include "daemon/switching/session.h"

namespace tracectl {

// Adds what those of the hooks that are sides of pairs have counted.
Status add_latencies(const Kernel& kernel, const std::vector<const SessionHook*>& hooks,
                     Latencies& latencies);

// What of results that are read and zeroed goes on: starts that are open still.
Latencies carried_over(const Latencies& read);

}  // namespace tracectl
