// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "daemon/base/result.h"
#include "daemon/finding/coverage.h"
#include "daemon/finding/resolver.h"
#include "daemon/kernel/counters.h"
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
  // All are borrowed.
  Budgets(const Counters& counters, Resolver& resolver, Sessions& sessions, Switches& switches,
          Saving& saving)
      : counters_(counters),
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
  Resolver& resolver_;
  Sessions& sessions_;
  Switches& switches_;
  Saving& saving_;
};

}  // namespace tracectl
