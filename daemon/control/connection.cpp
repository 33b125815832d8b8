// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/control/connection.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

#include "daemon/stream/client_stream.h"

namespace tracectl {

void ClientConnection::take_events(ServerCounts& counts) {
  for (const auto& [session, sink] : peer.subscriptions) {
    auto& stream = static_cast<ClientStream&>(*sink);
    const uint64_t before = stream.lost();
    stream.drain(out);
    counts.client_drops += stream.lost() - before;
  }
}

// Events that came before the answer are sent before it, as the answer to a flush promises.
void ClientConnection::put(const Reply& reply, ServerCounts& counts) {
  counts.refused_requests += reply.refused;
  // No other request may take the descriptors that came for a refused one.
  if (reply.refused) peer.descriptors.clear();
  take_events(counts);
  out += reply.line;
  answers += reply.line.size();
}

// After a client has taken data its streams have room for more.
void ClientConnection::note_sent() {
  answers = std::min(answers, unsent());
  for (const auto& [session, sink] : peer.subscriptions)
    static_cast<ClientStream&>(*sink).set_unsent(unsent());
}

void ClientConnection::send() {
  while (sent < out.size()) {
    const ssize_t count =
        ::send(socket.get(), out.data() + sent, out.size() - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) return note_sent();
    if (count < 0) {
      closing = true;
      break;
    }
    sent += static_cast<size_t>(count);
  }
  out.clear();
  if (out.capacity() > kMostUnsentBytes) out.shrink_to_fit();
  sent = 0;
  note_sent();
}

void ClientConnection::refuse(const Error& why) {
  peer.descriptors.clear();
  out += protocol::error_line({}, why);
  closing = true;
}

std::string_view ClientConnection::unsent_lines() const {
  const size_t begins = sent ? out.rfind('\n', sent - 1) + 1 : 0;
  return std::string_view(out).substr(begins);
}

Connections::iterator find(Connections& connections, uint64_t number) {
  return std::find_if(connections.begin(), connections.end(),
                      [&](const ClientConnection& one) { return one.number == number; });
}

}  // namespace tracectl
