// SPDX-License-Identifier: BSD-2-Clause
//
// Bytes and descriptors that clients send, until they are requests.
#pragma once

#include <sys/types.h>

#include <algorithm>
#include <memory>
#include <string_view>
#include <vector>

#include "daemon/base/event_loop.h"
#include "daemon/base/fd.h"
#include "daemon/base/result.h"
#include "daemon/control/client_limits.h"
#include "daemon/control/connection.h"
#include "daemon/control/receiving.h"
#include "daemon/protocol/messages.h"

namespace tracectl {

class Intake {
 public:
  // All are borrowed.
  static Result<std::unique_ptr<Intake>> start(EventLoop& loop, Connections& connections,
                                               const ClientLimits& limits, Settle settle);

  // To be called when the connection's socket has something to read. Messages of users that carry descriptors are
  // received by another thread (receiving.h), and the connection is settled then.
  void receive(ClientConnection& connection);
  // Closes the socket. This also closes descriptors that were sent and not received, which can block, so another
  // thread does it if there may be any.
  void let_go(Fd socket);
  // The number of the user's sockets that are not closed yet.
  size_t let_go_of(uid_t user) const { return receiving_->let_go_of(user); }

 private:
  static constexpr size_t kReadBytes = 64 << 10;
  // Descriptors that came and are not taken yet: as many as one request takes at most.
  static constexpr size_t kMostDescriptors =
      std::max<size_t>(protocol::RotatePart::kMostFiles, protocol::kMostFilesOfRequest);

  Intake(Connections& connections, const ClientLimits& limits, Settle settle,
         std::unique_ptr<Receiving> receiving)
      : connections_(connections),
        limits_(limits),
        settle_(std::move(settle)),
        receiving_(std::move(receiving)) {}
  Status watch(EventLoop& loop);
  void receive_of_user(ClientConnection& connection);
  void receive_elsewhere(ClientConnection& connection);
  void take_received();
  void take(ClientConnection& connection, Receiving::Received received);
  void end_late();
  void set_timer();
  static void take_descriptors(ClientConnection& connection, std::vector<Fd> sent, bool truncated);
  void take_bytes(ClientConnection& connection, const char* bytes, ssize_t count);
  void feed(ClientConnection& connection, std::string_view bytes);

  Connections& connections_;
  const ClientLimits& limits_;
  const Settle settle_;
  const std::unique_ptr<Receiving> receiving_;
  EventLoop::Watch taking_;
  EventLoop::Timer late_;
};

}  // namespace tracectl
