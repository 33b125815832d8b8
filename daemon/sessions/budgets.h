// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "daemon/base/result.h"
#include "daemon/finding/coverage.h"
#include "daemon/finding/resolver.h"
#include "daemon/kernel/counters.h"
#include "daemon/sessions/hit_cost.h"
#include "daemon/sessions/sessions.h"
#include "daemon/sessions/switches.h"

namespace tracectl {

// The result of checking a session's budget.
struct BudgetKept {
  std::string session;
  std::vector<LeftOut> left_out;
  Status done;  // or why settings that cost too much could not be left out
};

// Keeps sessions within their budgets.
class Budgets {
 public:
  // All are borrowed but `hit_costs`: what hits take from the programs, as far as it is known now.
  Budgets(const Counters& counters, std::function<HitCosts()> hit_costs, Resolver& resolver,
          Sessions& sessions, Switches& switches, Saving& saving)
      : counters_(counters),
        hit_costs_(std::move(hit_costs)),
        resolver_(resolver),
        sessions_(sessions),
        switches_(switches),
        saving_(saving) {}

  // When to call keep(), since boot. 0 if no session has both a budget and armed sites.
  uint64_t next_look_ns() const;
  // Checks the hits since the last time in sessions that are due, and by a switch removes the probes of a session
  // that cost more than its budget. Returns the sessions where there was something to do.
  std::vector<BudgetKept> keep();

  // Covers a session's settings, except for the probes that it has left out.
  Result<Coverage> cover(const Session& session, const std::vector<Setting>& settings);

 private:
  std::optional<BudgetKept> keep(Session& session, uint64_t now_ns);
  Status do_without(Session& session, std::vector<LeftOut>& dear);

  const Counters& counters_;
  const std::function<HitCosts()> hit_costs_;
  Resolver& resolver_;
  Sessions& sessions_;
  Switches& switches_;
  Saving& saving_;
};

}  // namespace tracectl
