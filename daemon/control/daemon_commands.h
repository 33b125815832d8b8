// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>

#include "daemon/control/examination.h"
#include "daemon/control/flight_recorders.h"
#include "daemon/control/peer.h"
#include "daemon/protocol/messages.h"
#include "daemon/sessions/engine.h"

namespace tracectl {

struct ServerCounts {
  uint64_t clients = 0;
  uint64_t requests = 0;
  uint64_t refused_requests = 0;
  uint64_t client_drops = 0;
};

// hello, daemon.*
class DaemonCommands {
 public:
  // All are borrowed.
  DaemonCommands(Engine& engine, const ServerCounts& counts, const FlightRecorders& recorders);

  Result<protocol::HelloReply> handle(const protocol::Hello&, Peer&);
  Result<protocol::StatusReply> handle(const protocol::DaemonStatus&, Peer&);
  Result<protocol::StatsReply> handle(const protocol::DaemonStats&, Peer&);
  Result<protocol::TopReply> handle(const protocol::DaemonTop&, Peer&);
  Result<protocol::DoctorReply> handle(const protocol::DaemonDoctor&, Peer&);

 private:
  Engine& engine_;
  const ServerCounts& counts_;
  const FlightRecorders& recorders_;
  const uint64_t started_ns_;
  Examination examination_;
};

}  // namespace tracectl
