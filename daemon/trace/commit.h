// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
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

// One session's part in a switch: what it has in force now, and what it will have. It plans into a
// Staging that it may share with commits of other sessions. If there is no switch its destructor
// gives back what was made for it, and the session is as it was.
class Commit {
 public:
  Commit(Kernel& kernel, Slots& slots, Hooks& hooks, Staging& staging, Session& session)
      : kernel_(kernel), slots_(slots), hooks_(hooks), staging_(staging), session_(session) {}
  ~Commit();
  Commit(const Commit&) = delete;
  Commit& operator=(const Commit&) = delete;

  // Whether its hooks look at its gate, after the switch; before what follows. A session whose gate is
  // no more is paused or not.
  void set_gated(bool gated, bool paused) {
    gated_ = gated;
    paused_ = paused;
  }

  // Before the switch one of these, once.
  // From what is in force to what is covered. A setting that is staged again as it was keeps its
  // hook, and with it its counts. `settings`: those that it is the coverage of.
  Status plan(const Coverage& coverage, const std::vector<Setting>& settings);
  // Without the hooks of these probes; the others go on as they are.
  Status plan_leaving_out(const ProbeNames& probes);
  // Every hook counts from zero: reading and zeroing in one cut.
  Status plan_fresh_counters(bool paused);
  // Nothing is counted or streamed, or again, where it is not gated; counters keep what they have.
  Status plan_pause(bool paused);

  const Changes& changes() const { return changes_; }  // of plan()

  // What the session has after the switch.
  const Session& session() const { return session_; }
  const std::unordered_map<SlotId, SessionHooks>& hooks() const { return next_; }
  bool is_gated() const { return gated_; }
  bool is_paused() const { return paused_; }
  const std::vector<Setting>& settings() const {
    return settings_ ? *settings_ : session_.settings;
  }
  const Coverage* coverage() const { return coverage_ ? coverage_ : session_.coverage.get(); }

  // After the wait: what old hooks have counted goes to the session's past.
  void retire();
  // At the end: what was planned is in force since `epoch`.
  void settle(uint64_t epoch);

 private:
  using HeldHooks = std::vector<const SessionHook*>;

  void expect(size_t slots, size_t hooks);
  Status add(const SlotWants& wanted, HeldHooks held);
  Result<SessionHook> keep_or_make(const Want& want, HeldHooks& held);
  Result<SessionHook> renew(const SessionHook& old);
  Status put(const SlotSite& site, SessionHooks held);
  void drop_unwanted();
  void put_in_force(SessionHook& held) const;
  void discard(const Hook& hook);

  Kernel& kernel_;
  Slots& slots_;
  Hooks& hooks_;
  Staging& staging_;
  Session& session_;
  std::unordered_map<SlotId, SessionHooks> next_;  // in force after the switch
  std::vector<Hook> made_;  // for it; there is room for one before it is made
  HeldHooks gone_;          // not in force after the switch; the session has them until then
  Changes changes_;
  const Coverage* coverage_ = nullptr;  // of plan(), as are:
  const std::vector<Setting>* settings_ = nullptr;
  bool booked_ = true;             // what gone_ had counted
  bool only_counters_ = false;     // old and new hooks share all but their counters
  bool paused_ = session_.paused;  // after the switch
  bool gated_ = session_.gated;
};

}  // namespace tracectl
