// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <vector>

#include "daemon/kernel/counters.h"
#include "daemon/switching/session.h"

namespace tracectl {

// The results so far, of former hooks and of those in force.
Result<Results> current_results(const Counters& counters, const Session& session);
Totals current_totals(const Counters& counters, const Session& session);

// Moves the counts of hooks from the kernel's tables to the session's past. Call it when nobody counts for them
// any more, so that they are final. It cannot fail: a count for which there is no memory is lost, and the totals,
// which need none, show it. Returns false if the tables still have keys of these hooks; nobody else may get their
// counters then.
bool retire(Counters& counters, Session& session, const std::vector<const SessionHook*>& gone);

}  // namespace tracectl
