// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "daemon/control/parts.h"
#include "daemon/control/peer.h"
#include "daemon/protocol/messages.h"
#include "daemon/sessions/engine.h"

namespace tracectl {

// probe.*
class ProbeCommands {
 public:
  explicit ProbeCommands(Engine& engine) : engine_(engine) {}

  Result<protocol::ProbeListReply> handle(const protocol::ProbeList&, Peer&);
  // The data of its answer, which can be long: reply_of() of parts.h makes the answer.
  Result<ProbesFound> list(const protocol::ProbeList& request, Peer& peer);
  Result<protocol::ProbeInfoReply> handle(const protocol::ProbeInfo&, Peer&);
  Result<ProbesInfo> info(const protocol::ProbeInfo& request,
                          const Peer& peer) const;  // the data of its answer

 private:
  Engine& engine_;
};

}  // namespace tracectl
