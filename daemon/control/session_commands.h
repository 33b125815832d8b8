// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>

#include "daemon/control/flight_recorders.h"
#include "daemon/control/peer.h"
#include "daemon/control/recordings.h"
#include "daemon/control/saved_sessions.h"
#include "daemon/protocol/messages.h"
#include "daemon/sessions/engine.h"

namespace tracectl {

// session.*, but for results (result_commands.h).
class SessionCommands {
 public:
  // All are borrowed.
  SessionCommands(Engine& engine, FlightRecorders& flight_recorders, Recordings& recordings,
                  SavedSessions& saved)
      : engine_(engine),
        flight_recorders_(flight_recorders),
        recordings_(recordings),
        saved_(saved) {}

  Result<protocol::SessionPart> handle(const protocol::SessionCreate&, Peer&);
  Result<protocol::SessionListReply> handle(const protocol::SessionList&, Peer&);
  Result<protocol::SessionPart> handle(const protocol::SessionShow&, Peer&);
  Result<protocol::ProveReply> handle(const protocol::SessionProve&, Peer&);
  Result<protocol::BudgetReply> handle(const protocol::SessionBudget&, Peer&);
  Result<protocol::SwitchReply> handle(const protocol::SessionDelete&, Peer&);
  Result<protocol::SwitchReply> handle(const protocol::SessionPause&, Peer&);
  Result<protocol::SwitchReply> handle(const protocol::SessionResume&, Peer&);
  Result<protocol::SwitchReply> handle(const protocol::SessionRestart&, Peer&);

  // Leaves out probes that cost more than their session's budget: to be called at the engine's
  // next_budget_look_ns(), or more often.
  void keep_budgets();
  // Like creating the session, for one that goes on in the engine.
  Status take_up(const protocol::SessionCreate& request, const Peer& peer);
  // To be called when the peer is gone: ends its subscriptions and its unnamed sessions.
  void leave(Peer& peer);

 private:
  protocol::SessionPart part_of(const Session& session) const;
  Status check_saved(const protocol::SessionCreate& request) const;

  Engine& engine_;
  FlightRecorders& flight_recorders_;
  Recordings& recordings_;
  SavedSessions& saved_;
};

}  // namespace tracectl
