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

void ClientConnection::take_all_events(ServerCounts& counts) {
  const auto has_lines = [](const auto& one) {
    return static_cast<ClientStream&>(*one.second).has_lines();
  };
  do take_events(counts);
  while (std::any_of(peer.subscriptions.begin(), peer.subscriptions.end(), has_lines));
}

bool ClientConnection::has_to_send() const {
  return unsent() > 0 ||
         std::any_of(peer.subscriptions.begin(), peer.subscriptions.end(), [](const auto& one) {
           return static_cast<ClientStream&>(*one.second).has_more();
         });
}

void ClientConnection::put(const Reply& reply, ServerCounts& counts) {
  counts.refused_requests += reply.refused;
  // No other request may take the descriptors that came for a refused one.
  if (reply.refused) peer.descriptors.clear();
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
    if (count < 0 && errno == EAGAIN) {
      forget_sent();
      return note_sent();
    }
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

// What has been sent takes little more memory than what has not, unless it is the beginning of a long line.
void ClientConnection::forget_sent() {
  if (sent < kMostUnsentBytes || sent < unsent()) return;
  const size_t searched = sent - kMostUnsentBytes;
  const size_t newline = std::string_view(out).substr(searched, kMostUnsentBytes).rfind('\n');
  if (newline == std::string_view::npos) return;
  const size_t sent_lines = searched + newline + 1;
  out.erase(0, sent_lines);
  sent -= sent_lines;
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
