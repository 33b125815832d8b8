// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/sessions/probe_totals.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

namespace tracectl {

std::vector<ProbeTotals> probe_totals(const Counters& counters, const HitCosts& costs,
                                      const Session& session) {
  std::map<std::pair<std::string_view, pid_t>, ProbeTotals> by_probe;
  for (const auto& [slot, hooks] : session.hooks)
    for (const SessionHook& held : hooks) {
      if (held.setting->spec.learns_tags) continue;  // not the user's
      const tc_stat stat = counters.read_stat(held.hook.stat);
      const pid_t pid = held.process ? held.process->pid() : 0;
      ProbeTotals& totals = by_probe[{*held.probe, pid}];
      totals.probe = *held.probe;
      totals.pid = pid;
      totals.cost = std::max(totals.cost, held.cost);
      totals.hits += stat.hits;
      totals.lost += stat.dropped_ring + stat.dropped_keys;
      totals.cost_ns +=
          static_cast<double>(stat.hits) * costs.of(held.cost, held.hook.way, held.returns.get());
    }
  std::vector<ProbeTotals> all;
  for (auto& [key, totals] : by_probe) all.push_back(std::move(totals));
  return all;
}

}  // namespace tracectl
