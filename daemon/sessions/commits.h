// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "daemon/base/result.h"
#include "daemon/finding/resolver.h"
#include "daemon/sessions/arming_cost.h"
#include "daemon/sessions/awaiting.h"
#include "daemon/sessions/budgets.h"
#include "daemon/sessions/gates.h"
#include "daemon/sessions/hit_cost.h"
#include "daemon/sessions/intent.h"
#include "daemon/sessions/streams.h"
#include "daemon/sessions/switches.h"

namespace tracectl {

struct CommitSummary {
  uint64_t epoch = 0;
  size_t probes = 0, sites = 0;
  size_t added = 0, updated = 0, removed = 0;
  ArmingCost cost;       // of those added
  HitEstimate hits;      // at all sites
  size_t lingering = 0;  // sites that are armed and that no session wants
  std::vector<Refusal> refused;
  std::vector<std::string> notes;
  SwitchFigures figures;
};

struct CommitRequest {
  std::string session;
  CommitOptions options;
};

// Puts drafts in force.
class Commits {
 public:
  // What a commit needs of the engine; all but the number is borrowed.
  struct Parts {
    unsigned cpu_count;                             // as in Kernel
    bool one_by_one;                                // as in arming_cost()
    std::function<tc_hit_costs()> hit_costs;        // measures, which may take some tens of ms
    std::function<tc_hit_costs()> known_hit_costs;  // what was measured last
    const Slots& slots;
    Resolver& resolver;
    Sessions& sessions;
    const Quotas& quotas;
    Budgets& budgets;
    Gates& gates;
    Awaiting& awaiting;
    Streams& streams;
    Saving& saving;
    Switches& switches;
  };
  explicit Commits(const Parts& parts) : parts_(parts) {}

  Result<CommitSummary> commit(const std::string& session, const CommitOptions& options);
  // Commits all of them by one switch; one after another if one fails, or asks for something special. The
  // answers are in the order of the requests.
  std::vector<Result<CommitSummary>> commit_together(const std::vector<CommitRequest>& requests);
  // Commits these settings, and leaves out what is refused. The session has no draft afterwards, even if it fails.
  // `if_changed`: as in CommitOptions; the settings are those in force.
  Result<CommitSummary> commit_settings(Session& session, std::vector<Setting> settings,
                                        bool if_changed = false);
  // Takes all settings of the session out of force.
  Result<CommitSummary> empty(Session& session);

 private:
  Result<Intent> intend(const std::string& session, const CommitOptions& options);
  Status cover_for(Intent& intent);
  void note_failed(const std::string& session);
  Result<CommitSummary> dry_run(Intent intent);
  Result<CommitSummary> apply_leaving_out(Intent intent);
  Result<std::vector<CommitSummary>> apply(std::span<Intent> intents, Switch& change);
  Result<Changes> plan(Intent& intent, std::span<const Intent> all, Switch& change);
  std::optional<std::vector<CommitSummary>> try_together(
      const std::vector<CommitRequest>& requests);
  std::vector<CommitSummary> expected(std::span<const Intent> intents,
                                      const std::vector<Changes>& changes) const;
  void settle(Intent& intent, uint64_t epoch, const SwitchFigures& figures, CommitSummary& summary);

  Parts parts_;
};

}  // namespace tracectl
