// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "daemon/kernel/counters.h"
#include "daemon/model/cost.h"
#include "daemon/sessions/hit_cost.h"
#include "daemon/switching/session.h"

namespace tracectl {

// The totals of a probe's hits since the session armed it.
struct ProbeTotals {
  std::string probe;
  pid_t pid = 0;                     // the process that it is armed for alone, or 0
  CostClass cost = CostClass::fast;  // of its most expensive site
  uint64_t hits = 0;
  uint64_t lost = 0;   // events and values of these hits for which there was no room
  double cost_ns = 0;  // taken from the programs, estimated by HitCosts
};

// Sorted by name and process.
std::vector<ProbeTotals> probe_totals(const Counters& counters, const HitCosts& costs,
                                      const Session& session);

}  // namespace tracectl
