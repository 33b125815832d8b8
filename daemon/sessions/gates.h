// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "daemon/base/result.h"
#include "daemon/kernel/session_rows.h"
#include "daemon/kernel/switching.h"
#include "daemon/model/owner.h"
#include "daemon/sessions/intent.h"
#include "daemon/sessions/sessions.h"
#include "daemon/sessions/switches.h"

namespace tracectl {

// Pauses sessions, and gives those that settings trigger a gate.
class Gates {
 public:
  // All are borrowed.
  Gates(const Switching& switching, SessionRows& rows, Sessions& sessions, Switches& switches)
      : switching_(switching), rows_(rows), sessions_(sessions), switches_(switches) {}

  // Pauses or resumes one session, or all by one switch. A paused session keeps its counters and its armed
  // sites; settings that it commits meanwhile are armed and silent. A session that a setting triggers has a gate,
  // which is closed or opened right before the switch, and stays so until the next trigger. Without `session`, it
  // is for all sessions of the owner `of`, or of everybody without `of`.
  Result<SwitchSummary> pause(const std::optional<std::string>& session,
                              const std::optional<Owner>& of = std::nullopt) {
    return set_paused(session, of, true);
  }
  Result<SwitchSummary> resume(const std::optional<std::string>& session,
                               const std::optional<Owner>& of = std::nullopt) {
    return set_paused(session, of, false);
  }
  bool is_paused(const Session& session) const;

  // The names of sessions with a setting in force that triggers this one.
  std::vector<std::string> triggered_by(const Session& session) const;
  // The sessions that these settings trigger. Fails if one is not there, is another user's, or ends with its
  // connection.
  Result<std::map<std::string, Triggered>> triggers_of(const Session& session,
                                                       const std::vector<Setting>& settings) const;

  // ---- for commits ----
  // Notes in each session which others it triggers. Fails as triggers_of().
  Status note_triggers(std::span<Intent> intents) const;
  // Gives the commit's session the gate that it needs once the intents are in force.
  void give_gate(Commit& commit, const Session& session, std::span<const Intent> intents);
  // Plans the gates of the sessions that do not commit themselves.
  Status plan_others(std::span<const Intent> intents, Switch& change);

 private:
  Result<std::vector<Session*>> chosen(const std::optional<std::string>& session,
                                       const std::optional<Owner>& of);
  Result<SwitchSummary> set_paused(const std::optional<std::string>& session,
                                   const std::optional<Owner>& of, bool paused);
  bool is_triggered(const Session& session, std::span<const Intent> intents) const;
  void set_gated(Commit& commit, const Session& session, bool gated);

  const Switching& switching_;
  SessionRows& rows_;
  Sessions& sessions_;
  Switches& switches_;
};

}  // namespace tracectl
