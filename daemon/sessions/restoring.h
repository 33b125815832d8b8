// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "daemon/base/result.h"
#include "daemon/model/owner.h"
#include "daemon/model/setting.h"
#include "daemon/saved/restored_state.h"
#include "daemon/sessions/awaiting.h"
#include "daemon/sessions/gates.h"
#include "daemon/sessions/sessions.h"
#include "daemon/sessions/streams.h"
#include "daemon/sessions/switches.h"

namespace tracectl {

// A saved session, as a former daemon had it.
struct Returning {
  std::string name;
  std::vector<Setting> settings;
  std::optional<double> budget;
  std::optional<Owner> owner;
  uint64_t last_ns = 0;  // since boot: the last time that daemon is known to have run
};

// The error for a session of which the former daemon has left no state.
Error only_settings_left(const std::string& session);

// Resumes the saved sessions of a former daemon.
class Restoring {
 public:
  // What it needs of the engine; all borrowed.
  struct Parts {
    Kernel& kernel;
    Slots& slots;
    Hooks& hooks;
    Reading& reading;
    Sessions& sessions;
    Quotas& quotas;
    const Gates& gates;
    Saving& saving;
    Awaiting& awaiting;
    Streams& streams;
    Switches& switches;
  };
  // Takes over what the former daemon has left in the store and in a restored kernel: slots, links, numbers.
  Restoring(const Parts& parts, DescriptorStore& store);

  // `access_of` gives what a session of this owner may see. The rest: Engine::restore().
  using AccessOf = std::function<Access(const Session& session, const std::optional<Owner>& owner)>;
  std::vector<Status> restore(std::vector<Returning> sessions, const AccessOf& access_of);

 private:
  // A session whose settings are being put in force again.
  struct Restored {
    Session* session = nullptr;
    std::shared_ptr<Coverage> coverage;
    std::vector<SlotWants> ended;  // of processes that have ended
  };
  Result<Restored> begin_session(Returning returning, const AccessOf& access_of);
  void drop_those_that_trigger_none(std::vector<Restored>& restored, std::vector<size_t>& places,
                                    std::vector<Status>& answers);
  static Status take_up_settings(Session& session, const SessionState& state);
  Status cover_again(const Session& session, const SessionState& state, Coverage& coverage,
                     std::vector<SlotWants>& ended) const;
  WantedPart part_again(const Session& session, const PartState& state, bool& has_ended) const;
  Status restore_rings(Session& session);
  Status switch_to(std::vector<Restored>& restored, std::vector<uint32_t>& dropped_stats);
  void drop_foreign(Switch& change, const std::vector<Restored>& restored,
                    std::vector<uint32_t>& dropped_stats);
  void settle(Restored& restored);
  void retire_ended(Session& session, const Want& want);
  void forget_session(Session& session);
  void free_others(const std::vector<uint32_t>& dropped_stats);

  Parts parts_;
  RestoredState restored_;
};

}  // namespace tracectl
