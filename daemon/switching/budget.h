// SPDX-License-Identifier: BSD-2-Clause
//
// The budget of a session's hits, and which probes are left out if they cost more.
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

// The estimated cost of a probe's hits over some time.
struct ProbeLoad {
  std::string probe;
  CostClass cost = CostClass::fast;  // of its most expensive site
  double hits_per_second = 0;
  double percent = 0;  // of one CPU

  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("probe", s.probe);
    f("cost", s.cost);
    f("hits_per_second", s.hits_per_second);
    f("percent", s.percent);
  }
};

// A probe that was left out of a session.
struct LeftOut {
  ProbeLoad load;
  double budget = 0;
  size_t others = 0;  // probes that are useless without it, and were left out too

  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("load", s.load);
    f("budget", s.budget);
    f("others", s.others);
  }
};

struct Budget {
  double percent = 0;  // of one CPU
  double used = 0;     // in the last period
  std::vector<LeftOut> left_out = {};

  // The last check: its time since boot (0 if there was none), and the hits by hooks' counters.
  uint64_t looked_ns = 0;
  std::unordered_map<uint32_t, uint64_t> hits = {};
};

// The probes to leave out so that the others cost no more than the budget: the most expensive first. Of those
// with the same cost (within a percent, because these are estimates), the slow ones first.
std::vector<ProbeLoad> too_dear(std::vector<ProbeLoad> loads, double budget);

using ProbeNames = std::set<std::string, std::less<>>;

// A probe, and a setting that it is armed for.
struct ArmedFor {
  std::string_view probe;
  const Setting* setting;
};
// The probes that are useless when some are left out: the other end of a measured time, and the functions below a
// graph's calls when its last root is left out.
ProbeNames useless_without(const ProbeNames& left_out, const std::vector<ArmedFor>& armed);

}  // namespace tracectl
