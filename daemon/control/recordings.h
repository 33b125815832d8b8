// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <sys/types.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "daemon/control/flight_recorders.h"
#include "daemon/control/peer.h"
#include "daemon/protocol/messages.h"
#include "daemon/sessions/engine.h"
#include "daemon/stream/recorder.h"

namespace tracectl {

// record.*
class Recordings {
 public:
  // Both are borrowed.
  Recordings(Engine& engine, FlightRecorders& flight_recorders)
      : engine_(engine), flight_recorders_(flight_recorders) {}
  // Waits some seconds for recordings to be written.
  ~Recordings();
  Recordings(const Recordings&) = delete;
  Recordings& operator=(const Recordings&) = delete;

  Result<protocol::RecordingPart> handle(const protocol::RecordStart&, Peer&);
  Result<protocol::RecordingPart> handle(const protocol::RecordShow&, Peer&);
  Result<protocol::RecordingPart> handle(const protocol::RecordStop&, Peer&);
  Result<protocol::DumpPart> handle(const protocol::RecordDump&, Peer&);
  Result<protocol::DumpPart> handle(const protocol::RecordDumped&, Peer&);

  // To be called when the session is gone. What it has recorded is still written.
  void end(const std::string& session);

 private:
  // A session's recording. `user`: whose quota it counts for, if any.
  struct Recording {
    std::shared_ptr<Recorder> recorder;
    std::optional<uid_t> user;
  };
  Status check_memory(const Peer& peer) const;
  Result<std::shared_ptr<Recorder>> recording(const std::string& session) const;

  Engine& engine_;
  FlightRecorders& flight_recorders_;
  // By session. A recording that has ended stays until its session ends or is recorded again.
  std::map<std::string, Recording> recordings_;
  std::vector<Recording> ending_;  // still being written; their sessions are gone
};

}  // namespace tracectl
