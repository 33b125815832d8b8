// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/control/status_meanwhile.h"

#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <string_view>
#include <utility>

#include "daemon/control/dispatch.h"
#include "daemon/control/receiving.h"

namespace tracectl {
namespace {

// Connections that are taken while the kernel works. Later ones wait in the listener's queue: those that have left
// meanwhile are noticed after the work only, and would count among all that the server has.
constexpr size_t kMostTakenMeanwhile = 256;

}  // namespace

StatusMeanwhile::StatusMeanwhile(Engine& engine, Commands& commands, Connections& connections,
                                 const Requests& requests, Turns& turns, ServerCounts& counts,
                                 Listening listening)
    : engine_(engine),
      commands_(commands),
      connections_(connections),
      requests_(requests),
      turns_(turns),
      counts_(counts),
      listening_(std::move(listening)) {
  engine_.kernel().long_work().set_meanwhile([this](int done_fd) { answer(done_fd); });
}

StatusMeanwhile::~StatusMeanwhile() { engine_.kernel().long_work().set_meanwhile({}); }

void StatusMeanwhile::answer(int done_fd) {
  std::vector<ClientConnection*> asking = idle();
  int listening = listening_.fd;
  size_t taken = 0;
  for (;;) {
    std::vector<pollfd> awaited{{done_fd, POLLIN, 0}, {listening, POLLIN, 0}};
    for (const ClientConnection* one : asking) awaited.push_back({one->socket.get(), POLLIN, 0});
    if (::poll(awaited.data(), awaited.size(), -1) < 0 && errno != EINTR) return;
    if (awaited[0].revents) return;
    std::vector<ClientConnection*> still_asking;
    for (size_t i = 0; i < asking.size(); ++i)
      if (!awaited[i + 2].revents || answer_next(*asking[i])) still_asking.push_back(asking[i]);
    asking = std::move(still_asking);
    if (!awaited[1].revents) continue;
    ClientConnection* const accepted = listening_.accept();
    if (accepted) asking.push_back(accepted);
    if (!accepted || ++taken == kMostTakenMeanwhile) listening = -1;  // the others wait
  }
}

// The connections that wait for nothing and are not being answered.
std::vector<ClientConnection*> StatusMeanwhile::idle() {
  std::vector<ClientConnection*> found;
  for (ClientConnection& one : connections_) {
    const bool ends = one.ended || one.closing;
    if (!one.awaits_anything() && !ends && !requests_.is_answering(one) && one.in.size() == 0 &&
        one.unsent() == 0)
      found.push_back(&one);
  }
  return found;
}

// False if the connection's next request is not for the status; it stays unread then. It also stays unread if
// memory runs out: no memory is allocated after reading it.
bool StatusMeanwhile::answer_next(ClientConnection& connection) {
  char buffer[kMostRequestBytes];
  const ComesNext next = look_ahead(connection.socket, buffer, sizeof(buffer));
  if (next.bytes <= 0 || next.descriptors) return false;
  const std::string_view come{buffer, static_cast<size_t>(next.bytes)};
  const size_t end = come.find('\n');
  if (end == come.npos || !asks_for_status(come.substr(0, end))) return false;
  const auto answer = dispatch(come.substr(0, end), commands_, connection.peer, ok());
  const Reply& reply = std::get<Reply>(answer);
  connection.out.reserve(reply.line.size());
  if (::recv(connection.socket.get(), buffer, end + 1, MSG_DONTWAIT) !=
      static_cast<ssize_t>(end + 1))
    return false;
  ++counts_.requests;
  counts_.refused_requests += reply.refused;
  connection.out += reply.line;
  connection.send();
  if (connection.unsent() == 0 && !connection.closing) return true;
  turns_.await(connection);
  return false;
}

}  // namespace tracectl
