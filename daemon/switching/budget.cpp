// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/switching/budget.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

namespace tracectl {
namespace {

bool goes_first(const ProbeLoad& a, const ProbeLoad& b) {
  const auto rank = [](const ProbeLoad& load) {
    return std::tuple(std::round(load.percent), load.cost, load.percent);
  };
  if (rank(a) != rank(b)) return rank(a) > rank(b);
  return a.probe < b.probe;
}

bool is_root(const Setting& setting) { return setting.spec.graph && !setting.spec.within_graph; }

// Settings that measure from or to one of these.
std::set<const Setting*> pairs_of(const ProbeNames& probes, const std::vector<ArmedFor>& armed) {
  std::set<const Setting*> pairs;
  for (const auto& [probe, setting] : armed)
    if (setting->latency && probes.contains(probe)) pairs.insert(setting);
  return pairs;
}

}  // namespace

std::vector<ProbeLoad> too_dear(std::vector<ProbeLoad> loads, double budget) {
  std::erase_if(loads, [](const ProbeLoad& one) { return one.percent <= 0; });
  std::sort(loads.begin(), loads.end(), goes_first);
  double left = std::accumulate(loads.begin(), loads.end(), 0.0,
                                [](double sum, const ProbeLoad& one) { return sum + one.percent; });
  auto stays = loads.begin();
  for (; stays != loads.end() && left > budget; ++stays) left -= stays->percent;
  loads.erase(stays, loads.end());
  return loads;
}

ProbeNames useless_without(const ProbeNames& left_out, const std::vector<ArmedFor>& armed) {
  const auto pairs = pairs_of(left_out, armed);
  const bool has_root = std::any_of(armed.begin(), armed.end(), [&](const ArmedFor& one) {
    return is_root(*one.setting) && !left_out.contains(one.probe);
  });
  ProbeNames useless;
  for (const auto& [probe, setting] : armed) {
    if (left_out.contains(probe)) continue;
    const bool is_below_nothing = setting->spec.within_graph && !has_root;
    if (is_below_nothing || pairs.contains(setting)) useless.emplace(probe);
  }
  return useless;
}

}  // namespace tracectl
