// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/control/intake.h"

#include <sys/socket.h>

#include <cerrno>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

#include "daemon/base/clock.h"
#include "daemon/base/sent_fds.h"
#include "daemon/control/log.h"

namespace tracectl {
namespace {

constexpr uint64_t kReceivingPatienceNs = 5'000'000'000;

// The kernel still knows the user after the peer has ended.
uid_t user_of(const Fd& socket) {
  ucred peer{};
  socklen_t size = sizeof(peer);
  ::getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size);
  return peer.uid;
}

Error too_many_descriptors() {
  return Error{Code::exhausted, "more descriptors came than requests that take one"};
}

}  // namespace

Result<std::unique_ptr<Intake>> Intake::start(EventLoop& loop, Connections& connections,
                                              const ClientLimits& limits, Settle settle) {
  auto receiving = Receiving::start({.bytes = kReadBytes, .descriptors = kMostDescriptors});
  if (!receiving) return receiving.error();
  std::unique_ptr<Intake> intake{
      new Intake(connections, limits, std::move(settle), std::move(*receiving))};
  if (auto watching = intake->watch(loop); !watching) return watching.error();
  return intake;
}

Status Intake::watch(EventLoop& loop) {
  auto made = assign(late_, loop.timer([this] { end_late(); }));
  if (!made) return made;
  return assign(taking_, loop.watch(receiving_->fd(), EventLoop::kReadable,
                                    [this](uint32_t) { take_received(); }));
}

void Intake::receive(ClientConnection& connection) {
  if (connection.peer.owner) return receive_of_user(connection);
  char buffer[kReadBytes];
  alignas(cmsghdr) char control[CMSG_SPACE(kMostDescriptors * sizeof(int))];
  iovec bytes{buffer, sizeof(buffer)};
  msghdr message{};
  message.msg_iov = &bytes;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof(control);
  const ssize_t count = ::recvmsg(connection.socket.get(), &message, MSG_CMSG_CLOEXEC);
  if (count >= 0) take_descriptors(connection, sent_fds(message), message.msg_flags & MSG_CTRUNC);
  take_bytes(connection, buffer, count);
}

// `truncated`: more were sent than could be received.
void Intake::take_descriptors(ClientConnection& connection, std::vector<Fd> sent, bool truncated) {
  auto& all = connection.peer.descriptors;
  std::move(sent.begin(), sent.end(), std::back_inserter(all));
  if (truncated || all.size() > kMostDescriptors) connection.refuse(too_many_descriptors());
}

// `count`: as recvmsg(2) returns it.
void Intake::take_bytes(ClientConnection& connection, const char* bytes, ssize_t count) {
  if (count == 0) connection.ended = true;
  if (count < 0 && errno != EAGAIN && errno != EINTR) connection.closing = true;
  if (count > 0) feed(connection, {bytes, static_cast<size_t>(count)});
}

void Intake::feed(ClientConnection& connection, std::string_view bytes) {
  connection.in.feed(bytes);
  if (auto within = limits_.check_requests(connection.peer); !within)
    connection.refuse(within.error());
}

// Bytes without descriptors are received here, but only those that were seen to come without.
void Intake::receive_of_user(ClientConnection& connection) {
  if (connection.receives_since_ns) return;
  char buffer[kReadBytes];
  const ComesNext next = look_ahead(connection.socket, buffer, sizeof(buffer));
  if (next.descriptors) return receive_elsewhere(connection);
  const ssize_t count = next.bytes > 0 ? ::recv(connection.socket.get(), buffer,
                                                static_cast<size_t>(next.bytes), MSG_DONTWAIT)
                                       : next.bytes;
  take_bytes(connection, buffer, count);
}

// ---- by another thread ----

void Intake::receive_elsewhere(ClientConnection& connection) {
  auto asked = receiving_->receive(connection.number, connection.peer.uid, connection.socket);
  if (!asked) return connection.refuse(asked.error());
  connection.receives_since_ns = boot_ns();
  set_timer();
}

void Intake::take_received() {
  for (Receiving::Received& received : receiving_->take()) {
    const auto at = find(connections_, received.connection);
    if (at == connections_.end()) continue;
    take(*at, std::move(received));
    settle_(at);
  }
}

void Intake::take(ClientConnection& connection, Receiving::Received received) {
  connection.receives_since_ns.reset();
  if (received.error) return connection.refuse(*received.error);
  take_descriptors(connection, std::move(received.descriptors), false);
  if (received.ended) connection.ended = true;
  feed(connection, received.bytes);
}

void Intake::end_late() {
  const uint64_t late_ns = boot_ns() - kReceivingPatienceNs;
  for_each(connections_, [&](Connections::iterator at) {
    if (!at->receives_since_ns || *at->receives_since_ns > late_ns) return;
    at->receives_since_ns.reset();
    at->refuse(Error{Code::busy,
                     "descriptors that user " + std::to_string(at->peer.uid) +
                         " has sent are still waited for: files of FUSE whose process does not "
                         "answer, or sockets that linger; none is taken until they are closed"});
    settle_(at);
  });
  set_timer();
}

void Intake::set_timer() {
  std::optional<uint64_t> first_ns;
  for (const ClientConnection& connection : connections_)
    if (const auto since_ns = connection.receives_since_ns)
      first_ns = std::min(first_ns.value_or(*since_ns), *since_ns);
  if (!first_ns) return;
  if (auto set = late_.set(*first_ns + kReceivingPatienceNs); !set)
    log_error("{}", set.error().message);
}

void Intake::let_go(Fd socket) {
  if (!socket) return;
  ::shutdown(socket.get(), SHUT_RD);
  char byte = 0;
  if (look_ahead(socket, &byte, sizeof(byte)).bytes == 0) return;
  const uid_t user = user_of(socket);
  receiving_->let_go(user, std::move(socket));
}

}  // namespace tracectl
