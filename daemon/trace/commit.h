// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <unordered_map>
#include <vector>

#include "daemon/trace/coverage.h"
#include "daemon/trace/hooks.h"
#include "daemon/trace/results.h"
#include "daemon/trace/session.h"
#include "daemon/trace/staging.h"

namespace tracectl {

// Sites of one session that a commit touches.
struct Changes {
  size_t added = 0, updated = 0, removed = 0;
};

// How far what is in force is from what shall be. A setting that is staged again as it was keeps
// its hook, and with it its counts.
Changes compare(const Slots& slots, const Session& session, const Coverage& coverage);

// One commit of one session: plan it, build it, switch to it. Without the last step everything is
// undone when it ends.
class Commit {
 public:
  Commit(Kernel& kernel, Slots& slots, Hooks& hooks, Session& session)
      : kernel_(kernel), slots_(slots), hooks_(hooks), session_(session), staging_(kernel, slots) {}
  ~Commit();
  Commit(const Commit&) = delete;
  Commit& operator=(const Commit&) = delete;

  // From what is in force to what is covered.
  Status plan(const Coverage& coverage);
  // Every hook of the session counts from zero: reading and zeroing in one cut.
  Status plan_fresh_counters();

  Status build() { return staging_.build(); }
  const std::vector<Staging::RefusedSite>& refused() const { return staging_.refused(); }

  // The switch; the epoch from which the plan is in force. What old hooks had counted is then in
  // the session's past.
  uint64_t activate();

  const Phases& phases() const { return staging_.phases(); }

 private:
  struct Planned {
    SlotKey key;
    SessionHook held;
    bool is_new = false;  // not in force before the switch
  };

  Status add(const SlotKey& key, const Wants& wants, SessionHooks held);
  Status keep_or_make(const SlotKey& key, const Want& want, SessionHooks& held);
  Status renew(const Slot& slot, const SessionHooks& held);
  void drop_unwanted(const Coverage& coverage);

  Kernel& kernel_;
  Slots& slots_;
  Hooks& hooks_;
  Session& session_;
  Staging staging_;
  std::unordered_map<SlotId, SessionHooks> kept_;  // of those that do not
  std::vector<Planned> planned_;                   // of the slots that change
  std::vector<SessionHook> gone_;
  bool only_counters_ = false;  // old and new hooks share all but their counters
};

}  // namespace tracectl
