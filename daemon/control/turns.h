// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>

#include "daemon/base/event_loop.h"
#include "daemon/base/result.h"
#include "daemon/control/connection.h"
#include "daemon/control/requests.h"

namespace tracectl {

// The control thread's time, shared among users: the requests of one, on all of its connections, are answered for
// kTurnNs; then the user waits for its next turn. Turns belong to the users who wait, in a circle.
class Turns {
 public:
  // All are borrowed.
  static Result<std::unique_ptr<Turns>> start(EventLoop& loop, Connections& connections,
                                              Requests& requests, ServerCounts& counts,
                                              Settle settle);

  // For a new connection: all connections of a user share one.
  std::shared_ptr<UserTurns> of(uid_t user) const;
  // The connection's requests wait for its user's next turn.
  void await(ClientConnection& connection);
  // Answers the connection's requests as long as the client takes the answers and its user's turn lasts.
  void answer(ClientConnection& connection);

 private:
  static constexpr uint64_t kTurnNs = 5'000'000;

  Turns(Connections& connections, Requests& requests, ServerCounts& counts, Settle settle)
      : connections_(connections),
        requests_(requests),
        counts_(counts),
        settle_(std::move(settle)) {}
  void take();

  Connections& connections_;
  Requests& requests_;
  ServerCounts& counts_;
  const Settle settle_;
  EventLoop::Later turning_;
  uint64_t last_ = 0;  // number of the last turn
};

}  // namespace tracectl
