// SPDX-License-Identifier: BSD-2-Clause
//
// One function for each method, typed in and out. It decides what a request may do, for the socket server and for
// `tracectl --embedded`. The functions are in classes by what they know, and found by the type of the request.
#pragma once

#include <optional>

#include "daemon/base/result.h"
#include "daemon/control/daemon_commands.h"
#include "daemon/control/flight_recorders.h"
#include "daemon/control/peer.h"
#include "daemon/control/probe_commands.h"
#include "daemon/control/recordings.h"
#include "daemon/control/result_commands.h"
#include "daemon/control/saved_sessions.h"
#include "daemon/control/session_commands.h"
#include "daemon/control/stage_commands.h"
#include "daemon/sessions/engine.h"

namespace tracectl {

template <class Part, class Request>
concept Handles = requires(Part& part, const Request& request, Peer& peer) {
  part.handle(request, peer);
};

class Commands {
 public:
  // Without `unasked`, dumps are made only on request. `store` is borrowed; without it no session is saved.
  Commands(Engine& engine, const ServerCounts& counts,
           std::optional<FlightRecorders::Unasked> unasked = std::nullopt,
           DescriptorStore* store = nullptr);

  template <class Request>
  Result<typename Request::Reply> handle(const Request& request, Peer& peer) {
    return part_for<Request>().handle(request, peer);
  }

  ProbeCommands& probes() { return probes_; }
  SessionCommands& sessions() { return sessions_; }
  StageCommands& stage() { return stage_; }
  ResultCommands& results() { return results_; }

  FlightRecorders& flight_recorders() { return flight_recorders_; }
  // The saved sessions, in the form that the next daemon finds.
  SavedSessions& saved() { return saved_; }

  // Why the peer may not make a request, before it is looked at: it is about another user's session.
  std::optional<Error> why_not(const Peer& peer, const std::string& session) const {
    return tracectl::why_not(peer, engine_.sessions(), session);
  }
  // To be called before a request that may need more memory.
  Status check_memory(const Peer& peer) const;

 private:
  template <class Request> auto& part_for() {
    if constexpr (Handles<DaemonCommands, Request>)
      return daemon_;
    else if constexpr (Handles<ProbeCommands, Request>)
      return probes_;
    else if constexpr (Handles<SessionCommands, Request>)
      return sessions_;
    else if constexpr (Handles<StageCommands, Request>)
      return stage_;
    else if constexpr (Handles<ResultCommands, Request>)
      return results_;
    else
      return recordings_;
  }

  Engine& engine_;
  FlightRecorders flight_recorders_;
  SavedSessions saved_;
  Recordings recordings_;
  DaemonCommands daemon_;
  ProbeCommands probes_;
  SessionCommands sessions_;
  StageCommands stage_;
  ResultCommands results_;
};

}  // namespace tracectl
