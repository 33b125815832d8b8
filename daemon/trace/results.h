// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <vector>

#include "daemon/kernel/kernel.h"
#include "daemon/trace/session.h"

namespace tracectl {

// Results so far: of hooks that are gone, and of those in force.
Result<Results> current_results(const Kernel& kernel, const Session& session);
Totals current_totals(const Kernel& kernel, const Session& session);

// Adds what hooks have counted to the session's past and takes it from the kernel's tables. To be
// called when nobody counts for them any more: then it is final. It cannot fail: a count for which
// there is no memory is lost, and the totals, which take none, show it. False: the tables still hold
// keys of theirs, so nobody else may have their counters.
bool retire(Kernel& kernel, Session& session, const std::vector<const SessionHook*>& gone);

}  // namespace tracectl
