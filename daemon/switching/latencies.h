// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "daemon/kernel/counters.h"
#include "daemon/switching/session.h"

namespace tracectl {

// Adds the counts of those hooks that are sides of pairs.
Status add_latencies(const Counters& counters, const std::vector<const SessionHook*>& hooks,
                     Latencies& latencies);

// The part of results that remains after they are read and zeroed: starts that are still open.
Latencies carried_over(const Latencies& read);

}  // namespace tracectl
