// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/control/connection.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

#include "daemon/stream/client_stream.h"

namespace tracectl {

uint64_t Connection::take_events() {
  uint64_t lost = 0;
  for (const auto& [session, sink] : peer.subscriptions) {
    auto& stream = static_cast<ClientStream&>(*sink);
    const uint64_t before = stream.lost();
    stream.drain(out);
    lost += stream.lost() - before;
  }
  return lost;
}

// After a client has taken data its streams have room for more.
void Connection::note_sent() {
  answers = std::min(answers, unsent());
  for (const auto& [session, sink] : peer.subscriptions)
    static_cast<ClientStream&>(*sink).set_unsent(unsent());
}

void Connection::send() {
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

void Connection::refuse(const Error& why) {
  peer.descriptors.clear();
  out += protocol::error_line({}, why);
  closing = true;
}

std::string_view Connection::unsent_lines() const {
  const size_t begins = sent ? out.rfind('\n', sent - 1) + 1 : 0;
  return std::string_view(out).substr(begins);
}

}  // namespace tracectl
