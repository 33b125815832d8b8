// SPDX-License-Identifier: BSD-2-Clause
//
// What a session's hits may cost, and which probes are left out where they cost more.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "daemon/model/cost.h"
#include "daemon/model/setting.h"

namespace tracectl {

// What the hits of a probe have cost over some time, by estimate.
struct ProbeLoad {
  std::string probe;
  CostClass cost = CostClass::fast;  // the dearest of its sites
  double hits_per_second = 0;
  double percent = 0;  // of one CPU
};

// A probe that a session does without.
struct LeftOut {
  ProbeLoad load;
  double budget = 0;
  size_t others = 0;  // probes that tell nothing without it, and went with it
};

struct Budget {
  double percent = 0;  // of one CPU
  double used = 0;     // in the last period
  std::vector<LeftOut> left_out = {};

  // At the last look: when that was, since boot (0: there was none), and the hits by hooks' counters.
  uint64_t looked_ns = 0;
  std::unordered_map<uint32_t, uint64_t> hits = {};
};

// Those that have to go so that the others cost no more than the budget: the dearest first, and of
// those that cost the same (to a percent: they are estimates) the slow ones first.
std::vector<ProbeLoad> too_dear(std::vector<ProbeLoad> loads, double budget);

using ProbeNames = std::set<std::string, std::less<>>;

// A probe, and a setting that it is armed for.
struct ArmedFor {
  std::string_view probe;
  const Setting* setting;
};
// Those that tell nothing where some are left out: the other end of a time that is measured, and what
// is shown below the calls of a graph when the last of its roots is gone.
ProbeNames useless_without(const ProbeNames& left_out, const std::vector<ArmedFor>& armed);

}  // namespace tracectl
