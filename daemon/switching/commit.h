// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "daemon/base/long_work.h"
#include "daemon/finding/coverage.h"
#include "daemon/kernel/counters.h"
#include "daemon/switching/hooks.h"
#include "daemon/switching/results.h"
#include "daemon/switching/session.h"
#include "daemon/switching/staging.h"

namespace tracectl {

// The sites of one session that a commit changes.
struct Changes {
  size_t added = 0, updated = 0, removed = 0;  // sites
  // Of the sites that are added: the places where the kernel puts a breakpoint, exits too, and the pages of code that
  // have the sites.
  size_t breakpoints = 0, pages = 0;
  uint64_t table_bytes = 0;  // by which tables of the engine must grow
};

// One session's part in a switch: its hooks before and after it. It plans into a Staging, which it may
// share with commits of other sessions. If there is no switch, its destructor frees what was made for it,
// and the session is unchanged.
class Commit {
 public:
  Commit(Counters& counters, LongWork& long_work, Slots& slots, Hooks& hooks, Staging& staging,
         Session& session)
      : counters_(counters),
        long_work_(long_work),
        slots_(slots),
        hooks_(hooks),
        staging_(staging),
        session_(session) {}
  ~Commit();
  Commit(const Commit&) = delete;
  Commit& operator=(const Commit&) = delete;

  // Says whether the session's hooks use its gate after the switch. Call it before the methods below. A session
  // that loses its gate is paused or not.
  void set_gated(bool gated, bool paused) {
    gated_ = gated;
    paused_ = paused;
  }

  // Call one of these, once, before the switch.
  // Plans the change to this coverage, which is that of `settings`. A setting that is staged again unchanged
  // keeps its hook, and so its counts.
  Status plan(const Coverage& coverage, const std::vector<Setting>& settings);
  // Removes the hooks of these probes; the others stay.
  Status plan_leaving_out(const ProbeNames& probes);
  // Gives every hook fresh counters, to read and zero at the same moment.
  Status plan_fresh_counters(bool paused);
  // Pauses or resumes a session that is not gated; its counters are kept.
  Status plan_pause(bool paused);

  // Makes the counters of new hooks zero. Call it after that.
  Status begin_counters();

  const Changes& changes() const { return changes_; }  // of plan()

  // The session, and its hooks and settings after the switch.
  const Session& session() const { return session_; }
  const std::unordered_map<SlotId, SessionHooks>& hooks() const { return next_; }
  bool is_gated() const { return gated_; }
  bool is_paused() const { return paused_; }
  const std::vector<Setting>& settings() const {
    return settings_ ? *settings_ : session_.settings;
  }
  const Coverage* coverage() const { return coverage_ ? coverage_ : session_.coverage.get(); }

  // Call it after the wait: it adds the counts of old hooks to the session's past.
  void retire();
  // Call it at the end: the plan is in force since `epoch`.
  void settle(uint64_t epoch);

 private:
  using HeldHooks = std::vector<const SessionHook*>;

  void expect(size_t slots, size_t hooks);
  Status add(const SlotWants& wanted, HeldHooks held);
  void count_added(const SlotWants& wanted);
  uint64_t bytes_to_grow() const;
  Result<SessionHook> keep_or_make(const Want& want, HeldHooks& held);
  Result<SessionHook> renew(const SessionHook& old);
  Status put(const SlotSite& site, SessionHooks held);
  void drop_unwanted();
  void put_in_force(SessionHook& held) const;
  void discard(const Hook& hook);

  Counters& counters_;
  LongWork& long_work_;
  Slots& slots_;
  Hooks& hooks_;
  Staging& staging_;
  Session& session_;
  std::unordered_map<SlotId, SessionHooks> next_;  // in force after the switch
  std::vector<Hook> made_;  // by this commit; has room for each before it is made
  std::vector<uint32_t> fresh_stats_;
  const SlotKey* last_added_ = nullptr;
  HeldHooks gone_;  // hooks of the session that the switch removes
  Changes changes_;
  const Coverage* coverage_ = nullptr;  // of plan(), as are:
  const std::vector<Setting>* settings_ = nullptr;
  bool booked_ = true;             // the counts of gone_ are in the past
  bool only_counters_ = false;     // old and new hooks differ only in their counters
  bool paused_ = session_.paused;  // after the switch
  bool gated_ = session_.gated;
};

}  // namespace tracectl
