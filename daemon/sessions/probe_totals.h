// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "daemon/kernel/kernel.h"
#include "daemon/model/cost.h"
#include "daemon/switching/session.h"

namespace tracectl {

// What the hits of a probe have come to since the session has it armed.
struct ProbeTotals {
  std::string probe;
  pid_t pid = 0;                     // the process that it is armed for alone, or 0
  CostClass cost = CostClass::fast;  // the dearest of its sites
  uint64_t hits = 0;
  uint64_t lost = 0;   // of what these gave, events and values there was no room for
  double cost_ns = 0;  // taken from the programs, by estimate: HitCosts
};

// By name and process.
std::vector<ProbeTotals> probe_totals(const Kernel& kernel, const Session& session);

}  // namespace tracectl
