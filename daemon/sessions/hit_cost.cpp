// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/sessions/hit_cost.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <tuple>
#include <vector>

#include "daemon/kernel/machine.h"

namespace tracectl {
namespace {

// It is not known by which one a call leaves.
CostClass dearest_exit(const ReturnPlan& returns) {
  CostClass dearest = CostClass::normal;
  for (const ExitSite& exit : returns.exits) dearest = std::max(dearest, exit.cost);
  return dearest;
}

}  // namespace

const HitCosts& HitCosts::here() {
  // In doubt the higher costs.
  static const HitCosts costs = may_be_virtual_machine() ? in_virtual_machine() : on_hardware();
  return costs;
}

HitCosts HitCosts::measured(const tc_hit_costs& costs) {
  // The programs' own part, about: of a count, and of following a call and adding its time.
  constexpr double kCount = 150, kFollow = 200;
  if (!costs.by_return) return here();
  return {.fast = costs.entry[TC_COST_FAST] + kCount,
          .normal = costs.entry[TC_COST_NORMAL] + kCount,
          .emulated = costs.entry[TC_COST_EMULATED] + kCount,
          .slow = costs.entry[TC_COST_SLOW] + kCount,
          .trampoline = costs.by_trampoline + kFollow,
          .kept_call = kFollow};
}

double HitCosts::of(CostClass cost) const {
  switch (cost) {
    case CostClass::fast: return fast;
    case CostClass::normal: return normal;
    case CostClass::emulated: return emulated;
    case CostClass::slow: return slow;
  }
  return slow;
}

double HitCosts::of(CostClass cost, Way way, const ReturnPlan* returns) const {
  if (way == Way::trampoline) return of(cost) + trampoline;
  if (way == Way::exits && returns) return of(cost) + kept_call + of(dearest_exit(*returns));
  return of(cost);
}

size_t slow_exits_of(const ReturnPlan& returns) {
  return static_cast<size_t>(
      std::count_if(returns.exits.begin(), returns.exits.end(),
                    [](const ExitSite& exit) { return exit.cost == CostClass::slow; }));
}

namespace {

HitEstimate estimate_of(const std::vector<const Site*>& sites, const HitCosts& costs) {
  HitEstimate estimate;
  if (sites.empty()) return estimate;
  double sum_ns = 0;
  for (const Site* site : sites) {
    const Way way = site->returns ? site->returns->way : Way::entry;
    sum_ns += costs.of(site->cost, way, site->returns.get());
    if (site->cost == CostClass::slow) ++estimate.slow_sites;
    if (way != Way::exits) continue;
    estimate.exits += site->returns->exits.size();
    estimate.slow_exits += slow_exits_of(*site->returns);
  }
  estimate.hit_ns = static_cast<uint64_t>(sum_ns / static_cast<double>(sites.size()));
  return estimate;
}

}  // namespace

HitEstimate estimate_hits(const Coverage& coverage, const HitCosts& costs) {
  std::vector<const Site*> sites;
  for (const SlotWants& at_slot : coverage.wants) sites.push_back(at_slot.wants.front().site);
  return estimate_of(sites, costs);
}

HitEstimate estimate_hits(const Resolution& found, const HitCosts& costs) {
  std::vector<const Site*> sites;
  std::set<std::tuple<dev_t, ino_t, uint64_t>> seen;
  for (const Resolved& part : found.parts)
    for (const Probe& probe : *part.probes)
      for (const Site& site : probe.sites) {
        const FileIdentity& file = part.object->identity();
        if (seen.emplace(file.device, file.inode, site.offset).second) sites.push_back(&site);
      }
  return estimate_of(sites, costs);
}

bool follows_calls(const Coverage& coverage) {
  return std::any_of(coverage.wants.begin(), coverage.wants.end(), [](const SlotWants& at_slot) {
    return at_slot.wants.front().site->returns != nullptr;
  });
}

}  // namespace tracectl
