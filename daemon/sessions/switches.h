// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "daemon/base/result.h"
#include "daemon/kernel/counters.h"
#include "daemon/kernel/switching.h"
#include "daemon/sessions/quotas.h"
#include "daemon/sessions/saving.h"
#include "daemon/switching/hooks.h"
#include "daemon/switching/slots.h"
#include "daemon/switching/switch.h"

namespace tracectl {

// A switch of whole sessions.
struct SwitchSummary {
  uint64_t epoch = 0;
  size_t sessions = 0, sites = 0;  // that it changed; 0 if there was no switch
  SwitchFigures figures;
};

struct EngineStats {
  uint64_t commits = 0, failed_commits = 0, switches = 0;
};

// Makes switches: every change of what is in force goes through begin(), build() and activate().
class Switches {
 public:
  // All are borrowed. `linger_ns`: how long a site stays armed after its last session has dropped it.
  Switches(Switching& switching, Counters& counters, Slots& slots, Hooks& hooks, Saving& saving,
           const Quotas& quotas, uint64_t linger_ns);

  Switch begin();
  // Sites that it drops are disarmed at once.
  Switch begin_without_lingering();
  // Arms what the switch needs, checks the quotas, and stores the state that outlives the daemon. If it fails, nothing
  // is changed.
  Status build(Switch& change);
  // Returns the new epoch. Cannot fail.
  uint64_t activate(Switch& change);

  // While the sessions of a former daemon are restored, its settings are in force and bound nobody.
  void begin_restoring() { restoring_ = true; }
  void end_restoring() { restoring_ = false; }

  // When to call end_lingering(), since boot. 0 if nothing lingers.
  uint64_t next_linger_end_ns() const { return next_linger_end_ns_; }
  // Disarms the sites that have lingered long enough. If it fails, it is tried again after the same time.
  Status end_lingering();

  void count_commit() { ++stats_.commits; }
  void count_failed_commit() { ++stats_.failed_commits; }
  const EngineStats& stats() const { return stats_; }

 private:
  void drop_unused();

  Switching& switching_;
  Counters& counters_;
  Slots& slots_;
  Hooks& hooks_;
  Saving& saving_;
  const Quotas& quotas_;
  const uint64_t linger_ns_;
  bool restoring_ = false;
  uint64_t next_linger_end_ns_ = 0;
  EngineStats stats_;
};

}  // namespace tracectl
