// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <vector>

#include "daemon/finding/coverage.h"
#include "daemon/finding/set_targets.h"
#include "daemon/kernel/kernel.h"
#include "daemon/stream/reader.h"
#include "daemon/switching/session.h"
#include "daemon/switching/slots.h"

namespace tracectl {

// The numbers of a former daemon's hooks.
struct SavedNumbers {
  uint32_t last_source = 0, last_serial = 0, last_pair = 0;  // the greatest
  std::vector<uint32_t> specs;                               // places in the kernel's table
  std::vector<uint32_t> set_targets;                         // numbers in the kernel
};

// Makes hooks with all they own: counters, layouts of arguments, their name in records, and the set of
// processes they follow.
class Hooks {
 public:
  // `for_one_command`: a hook that only counts needs Way::counting, and its site changes its way when it gets a hook
  // that does more. Otherwise all sites go a way that serves both, and only their settings change.
  Hooks(Kernel& kernel, Slots& slots, EventReader& reader, Symbolizer& symbolizer,
        bool for_one_command)
      : for_one_command_(for_one_command),
        kernel_(kernel),
        slots_(slots),
        reader_(reader),
        symbolizer_(symbolizer),
        set_targets_(kernel.sets()),
        pairs_(kernel.counters()),
        specs_(kernel.switching()) {}

  // Whether hits of the setting may wait at the site for absent memory that it reads, unless another setting
  // follows calls there. Takes nothing. Fails as check() does.
  static Result<bool> may_wait(const Setting& setting, const Site& site);

  // Whether the site has what the setting asks for. Takes nothing.
  static Status check(const Want& want);

  // Its counters begin at 0 once the caller has called Counters::begin_stat(), unless they are saved ones.
  Result<Hook> make(Session& session, const Want& want);

  // Call it before the first hook is made: it reserves these numbers. Those of specs, and of sets that no hook has
  // taken, are reserved until end_restoring().
  void restore(const SavedNumbers& numbers);
  void end_restoring() {
    specs_.end_restoring();
    slots_.layouts.end_restoring();
    set_targets_.end_restoring();
  }
  // Call it when the engine ends and the next one continues with the kernel's tables.
  void leave_all() { pairs_.leave_starts(); }
  uint32_t last_source() const { return last_source_; }
  uint32_t last_serial() const { return last_serial_; }
  uint32_t last_pair() const { return pairs_.last_number(); }
  // From now on, files that are executed in the cgroups of the settings are reported to the session.
  Status follow_cgroups(Session& session, const std::vector<Setting>& settings);
  // Reports to the session the next process of each set that begins to run the settings' programs (`-x`), or
  // joins their cgroups, and so may map files that the settings choose.
  Status listen_for_joining(Session& session, const std::vector<Setting>& settings);
  // These end the reports for all other cgroups and programs.
  void leave_cgroups(Session& session, const std::vector<Setting>& settings);
  void leave_executables(Session& session, const std::vector<Setting>& settings);

  // The same hook with counters of its own, as from make().
  Result<Hook> with_fresh_counters(const Hook& hook);
  // The hook forgets the calls that it has followed so far.
  void renew_serial(Hook& hook);
  // Drops the starts of the hook's pair. Call it when no hook of the pair is in force.
  static void forget_starts(const Hook& hook);
  void discard(const Hook& hook);
  void discard_counters(const Hook& hook);

 private:
  void see_maps(const Want& want);
  static Status check_side(const Want& want);
  static Status check_callers(const Want& want);
  static Error in_probe(Error error, const Want& want);
  static bool is_rated(const Hook& hook);
  Status give_spec(Session& session, const Want& want, Hook& hook);
  Status give_side(const Session& session, const Want& want, Hook& hook);
  Status add_tables(const Hook& hook, uint32_t stat);
  Result<SessionNumbers> numbers_of(Session& session, const Spec& spec);
  Result<uint32_t> number_of_tag(Session& session, const std::string& tag);
  Result<uint16_t> set_of(const Session& session, const Want& want);
  Status take_counters(Hook& hook);
  Status name_source(Session& session, const Want& want, Hook& hook);

  const bool for_one_command_;
  Kernel& kernel_;
  Slots& slots_;
  EventReader& reader_;
  Symbolizer& symbolizer_;
  SetTargets set_targets_;
  Pairs pairs_;
  Specs specs_;
  uint32_t last_source_ = 0;
  uint32_t last_serial_ = 0;
};

}  // namespace tracectl
