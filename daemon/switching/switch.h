// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <functional>
#include <list>
#include <vector>

#include "daemon/kernel/counters.h"
#include "daemon/kernel/switching.h"
#include "daemon/switching/commit.h"
#include "daemon/switching/staging.h"
#include "daemon/switching/steps.h"

namespace tracectl {

// The times of a switch.
struct SwitchFigures {
  Phases phases;
  std::vector<FirstHit> first_hits;  // under the new epoch, by CPU
};

// Puts settings of any number of sessions in force in one step. Its destructor undoes everything if that
// step was not made.
class Switch {
 public:
  Switch(Switching& switching, Counters& counters, Slots& slots, Hooks& hooks,
         uint64_t linger_until_ns)
      : counters_(counters),
        long_work_(switching.long_work()),
        slots_(slots),
        hooks_(hooks),
        staging_(switching, slots, linger_until_ns) {
    reached(Step::lock);
  }

  // Adds a session's commit, which must be planned before build().
  Commit& commit_of(Session& session) {
    return commits_.emplace_back(counters_, long_work_, slots_, hooks_, staging_, session);
  }
  // Removes hooks of a session that no longer exists.
  void drop(SlotId slot, SessionId session) { staging_.drop(slot, session); }
  void end_lingering(SlotId slot) { staging_.end_lingering(slot); }

  Status build() {
    for (Commit& commit : commits_)
      if (auto begun = commit.begin_counters(); !begun) return begun;
    return staging_.build();
  }
  // Returns the session's commit, which has the session's state after the switch; null if the switch does not
  // change the session. Call it after build().
  const Commit* commit_of(const Session& session) const {
    for (const Commit& commit : commits_)
      if (&commit.session() == &session) return &commit;
    return nullptr;
  }
  const Staging& staging() const { return staging_; }
  const std::vector<Staging::RefusedSite>& refused() const { return staging_.refused(); }

  // Makes the switch, and returns the epoch from which the plan is in force. `let_go`: as in Staging::activate().
  // Cannot fail.
  uint64_t activate(const std::function<void()>& let_go) {
    const uint64_t epoch = staging_.activate(let_go, [this] {
      for (Commit& commit : commits_) commit.retire();
    });
    for (Commit& commit : commits_) commit.settle(epoch);
    reached(Step::answer);
    return epoch;
  }
  // Call it once, after the switch. Takes no memory.
  SwitchFigures take_figures() { return {staging_.phases(), staging_.take_first_hits()}; }

 private:
  Counters& counters_;
  LongWork& long_work_;
  Slots& slots_;
  Hooks& hooks_;
  Staging staging_;
  std::list<Commit> commits_;
};

}  // namespace tracectl
