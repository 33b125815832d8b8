// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <functional>
#include <list>
#include <vector>

#include "daemon/trace/commit.h"
#include "daemon/trace/staging.h"
#include "daemon/trace/steps.h"

namespace tracectl {

// How a switch went.
struct SwitchFigures {
  Phases phases;
  std::vector<FirstHit> first_hits;  // under the new epoch, by CPU
};

// Settings of any number of sessions that take force in one step. Without the last step everything
// is undone when it ends.
class Switch {
 public:
  Switch(Kernel& kernel, Slots& slots, Hooks& hooks, uint64_t linger_until_ns)
      : kernel_(kernel), slots_(slots), hooks_(hooks), staging_(kernel, slots, linger_until_ns) {
    reached(Step::lock);
  }

  // One for each session, to be planned before build().
  Commit& commit_of(Session& session) {
    return commits_.emplace_back(kernel_, slots_, hooks_, staging_, session);
  }
  // A session's hooks of which nobody knows more.
  void drop(SlotId slot, SessionId session) { staging_.drop(slot, session); }
  void end_lingering(SlotId slot) { staging_.end_lingering(slot); }

  Status build() { return staging_.build(); }
  // After build(); what a session has after the switch, where the switch changes that.
  const Commit* commit_of(const Session& session) const {
    for (const Commit& commit : commits_)
      if (&commit.session() == &session) return &commit;
    return nullptr;
  }
  const Staging& staging() const { return staging_; }
  const std::vector<Staging::RefusedSite>& refused() const { return staging_.refused(); }

  // The epoch from which what was planned is in force. `let_go`: as in Staging::activate(). Cannot fail.
  uint64_t activate(const std::function<void()>& let_go) {
    const uint64_t epoch = staging_.activate(let_go, [this] {
      for (Commit& commit : commits_) commit.retire();
    });
    for (Commit& commit : commits_) commit.settle(epoch);
    reached(Step::answer);
    return epoch;
  }
  // Once, after the switch; takes no memory.
  SwitchFigures take_figures() { return {staging_.phases(), staging_.take_first_hits()}; }

 private:
  Kernel& kernel_;
  Slots& slots_;
  Hooks& hooks_;
  Staging staging_;
  std::list<Commit> commits_;
};

}  // namespace tracectl
