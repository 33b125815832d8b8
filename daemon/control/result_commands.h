// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "daemon/control/parts.h"
#include "daemon/control/peer.h"
#include "daemon/protocol/messages.h"
#include "daemon/sessions/engine.h"

namespace tracectl {

// A session's counts, rows and events: session.read, flush, subscribe, unsubscribe.
class ResultCommands {
 public:
  explicit ResultCommands(Engine& engine) : engine_(engine) {}

  Result<protocol::ReadReply> handle(const protocol::SessionRead&, Peer&);
  Result<ReadResults> read(const protocol::SessionRead& request);  // the data of its answer
  Result<protocol::FlushReply> handle(const protocol::SessionFlush&, Peer&);
  Result<protocol::Empty> handle(const protocol::SessionSubscribe&, Peer&);
  Result<protocol::Empty> handle(const protocol::SessionUnsubscribe&, Peer&);

 private:
  Engine& engine_;
};

}  // namespace tracectl
