// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "daemon/base/fd.h"
#include "daemon/control/peer.h"
#include "daemon/control/saved_sessions.h"
#include "daemon/protocol/messages.h"
#include "daemon/sessions/engine.h"

namespace tracectl {

// stage.*
class StageCommands {
 public:
  // Both are borrowed.
  StageCommands(Engine& engine, SavedSessions& saved) : engine_(engine), saved_(saved) {}

  Result<protocol::StageReply> handle(const protocol::StageSet&, Peer&);
  Result<protocol::StageReply> handle(const protocol::StageRemove&, Peer&);
  Result<protocol::CommitReply> handle(const protocol::StageCommit&, Peer&);
  // Commits that are requested together share a switch if they can. The answers are in their order.
  struct CommitRequestOf {
    const protocol::StageCommit* request;
    const Peer* peer;
  };
  std::vector<Result<protocol::CommitReply>> commit(const std::vector<CommitRequestOf>& asked);
  Result<protocol::GrowReply> handle(const protocol::StageGrow&, Peer&);
  Result<protocol::CommitReply> handle(const protocol::StageJoin&, Peer&);
  Result<protocol::Empty> handle(const protocol::StageAbort&, Peer&);

 private:
  std::optional<protocol::SpecPart> explained(const Setting& setting, const Access& access);
  Status give_all(const Session& session, Peer& peer, const std::vector<std::string>& files,
                  const std::vector<protocol::DebugFilePart>& debug_files);
  Status give_file(const Session& session, Fd file, const std::string& path,
                   const std::string& debug_of);

  Engine& engine_;
  SavedSessions& saved_;
};

}  // namespace tracectl
