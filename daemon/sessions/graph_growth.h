// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "daemon/base/result.h"
#include "daemon/finding/resolver.h"
#include "daemon/kernel/counters.h"
#include "daemon/kernel/switching.h"
#include "daemon/sessions/commits.h"
#include "daemon/sessions/sessions.h"

namespace tracectl {

struct GrowSummary {
  uint64_t epoch = 0;              // in force
  std::vector<std::string> added;  // functions, by the names of their probes
  std::vector<Refusal> refused;    // each reported once
  size_t unknown = 0;  // addresses that were called since the last time and begin no known function
};

// Adds functions to growing graphs: those that were called by computed addresses, and those reached from there.
class GraphGrowth {
 public:
  // All are borrowed.
  GraphGrowth(const Switching& switching, Counters& counters, const Slots& slots,
              Resolver& resolver, Sessions& sessions, Commits& commits)
      : switching_(switching),
        counters_(counters),
        slots_(slots),
        resolver_(resolver),
        sessions_(sessions),
        commits_(commits) {}

  // Makes a commit, or none if there is nothing new. Fails with Code::busy if the session has a draft.
  Result<GrowSummary> grow(const std::string& session);

 private:
  Result<GrowSummary> grow_by_what_was_called(Session& session);
  Result<GrowSummary> grow_by(Session& session, const CalledAddresses& called);
  Status add_callees(Session& session, std::vector<Pattern> callees, GrowSummary& summary);

  const Switching& switching_;
  Counters& counters_;
  const Slots& slots_;
  Resolver& resolver_;
  Sessions& sessions_;
  Commits& commits_;
};

}  // namespace tracectl
