// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <functional>
#include <vector>

#include "daemon/control/commands.h"
#include "daemon/control/connection.h"
#include "daemon/control/requests.h"
#include "daemon/control/turns.h"
#include "daemon/sessions/engine.h"

namespace tracectl {

// Answers requests for the daemon's status while the kernel works for the engine (base/long_work.h). The engine is in
// the middle of a change then, so other requests wait.
class StatusMeanwhile {
 public:
  // The listening socket, and what accepts a client there: null if none is accepted.
  struct Listening {
    int fd;
    std::function<ClientConnection*()> accept;
  };
  // All are borrowed. Answers from now on, until it is destroyed.
  StatusMeanwhile(Engine& engine, Commands& commands, Connections& connections,
                  const Requests& requests, Turns& turns, ServerCounts& counts,
                  Listening listening);
  ~StatusMeanwhile();
  StatusMeanwhile(const StatusMeanwhile&) = delete;
  StatusMeanwhile& operator=(const StatusMeanwhile&) = delete;

 private:
  static constexpr size_t kMostRequestBytes = 512;

  void answer(int done_fd);
  std::vector<ClientConnection*> idle();
  bool answer_next(ClientConnection& connection);

  Engine& engine_;
  Commands& commands_;
  Connections& connections_;
  const Requests& requests_;
  Turns& turns_;
  ServerCounts& counts_;
  const Listening listening_;
};

}  // namespace tracectl
