// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <sys/types.h>

#include <cstddef>

#include "daemon/base/result.h"
#include "daemon/control/connection.h"
#include "daemon/model/quota.h"

namespace tracectl {

// What all connections of one user may hold of the daemon's memory together. Every check fails with Code::exhausted,
// and passes for a peer who may trace every process.
class ClientLimits {
 public:
  // Events that wait for one client, for each session.
  static constexpr size_t kStreamBytes = 8 << 20;
  // The same for the first streams of peers who may trace every process: a third of a second of the fastest thread.
  static constexpr size_t kLongStreamBytes = 64 << 20;

  // Both are borrowed.
  ClientLimits(const Connections& connections, const Quota& quota)
      : connections_(connections), quota_(quota) {}

  // Whether the user may have one more connection. `let_go`: its sockets that are still being closed.
  Status check_connections(uid_t user, const std::optional<Owner>& owner, size_t let_go) const;
  // How many bytes of events may wait for the peer's next stream.
  size_t stream_bytes(const Peer& peer) const;
  // The same, if peers who may trace every process have so many streams.
  static size_t stream_bytes(const Peer& peer, size_t streams);
  // Whether the peer may subscribe once more.
  Status check_streams(const Peer& peer) const;
  // Bytes of incomplete requests.
  Status check_requests(const Peer& peer) const;
  // Bytes of answers that have not been sent.
  Status check_answers(const Peer& peer) const;
  // Matches held by requests that wait for their turn, for a file, or for their answer's text.
  Status check_matches(const Peer& peer) const;

 private:
  template <class Count> MemoryWanted sum_with(const Peer& peer, Count bytes_of) const;
  bool is_within(const MemoryWanted& waiting) const;

  const Connections& connections_;
  const Quota& quota_;
};

}  // namespace tracectl
