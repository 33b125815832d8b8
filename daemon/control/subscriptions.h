// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <memory>

#include "daemon/base/event_loop.h"
#include "daemon/base/fd.h"
#include "daemon/base/result.h"
#include "daemon/control/client_limits.h"
#include "daemon/control/connection.h"

namespace tracectl {

// Events of sessions on their way to the clients that have subscribed.
class Subscriptions {
 public:
  // All are borrowed.
  static Result<std::unique_ptr<Subscriptions>> start(EventLoop& loop, Engine& engine,
                                                      Connections& connections,
                                                      const ClientLimits& limits,
                                                      ServerCounts& counts, Settle settle);

  // What a peer's subscription gets its events by. Fails if its user has no memory left for one.
  Result<std::shared_ptr<HitSink>> make_stream(const protocol::SessionSubscribe& asked,
                                               const Peer& peer) const;
  // To be called when the reading of events has ended: sends the last ones to clients that take them within some
  // seconds. A client that does not learns how many it missed when it connects again.
  void send_rest();

 private:
  Subscriptions(Engine& engine, Connections& connections, const ClientLimits& limits,
                ServerCounts& counts, Settle settle, Fd wake)
      : engine_(engine),
        connections_(connections),
        limits_(limits),
        counts_(counts),
        settle_(std::move(settle)),
        wake_(std::move(wake)) {}
  void pump();
  void note_unsent();

  Engine& engine_;
  Connections& connections_;
  const ClientLimits& limits_;
  ServerCounts& counts_;
  const Settle settle_;
  const Fd wake_;  // the reader's thread has given events to a stream
  EventLoop::Watch waking_;
};

}  // namespace tracectl
