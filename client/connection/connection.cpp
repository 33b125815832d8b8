// SPDX-License-Identifier: BSD-2-Clause
#include "client/connection/connection.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cstring>

#include "daemon/protocol/codec.h"
#include "daemon/protocol/events.h"

namespace tracectl {

Result<Connection> Connection::open(const std::string& path, int flags) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path))
    return Error{Code::invalid, "the path of the socket is too long: " + path};
  path.copy(address.sun_path, path.size());
  Fd socket{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | flags, 0)};
  if (!socket) return Error::from_errno("socket");
  if (::connect(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0) {
    if (flags & SOCK_NONBLOCK) ::fcntl(socket.get(), F_SETFL, 0);
    return Connection{std::move(socket)};
  }
  if (errno == ENOENT || errno == ECONNREFUSED)
    return Error{Code::not_found, "no daemon listens on " + path};
  return Error::from_errno("connect to " + path);
}

// An error of the last system call: the daemon's end is reported in the same words, whatever the call was.
Error Connection::failure(const char* what) {
  return errno == EPIPE || errno == ECONNRESET ? closed() : Error::from_errno(what);
}

Error Connection::closed() {
  is_closed_ = true;
  return Error{Code::not_found, "the daemon has closed the connection"};
}

static ssize_t send_some(int socket, std::string_view bytes, std::span<const int> descriptors) {
  iovec part{const_cast<char*>(bytes.data()), bytes.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  std::vector<char> control(CMSG_SPACE(descriptors.size_bytes()));
  if (!descriptors.empty()) {
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    cmsghdr* rights = CMSG_FIRSTHDR(&message);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(descriptors.size_bytes());
    std::memcpy(CMSG_DATA(rights), descriptors.data(), descriptors.size_bytes());
  }
  return ::sendmsg(socket, &message, MSG_NOSIGNAL);
}

Status Connection::send(std::string_view bytes, std::span<const int> descriptors) {
  while (!bytes.empty()) {
    const ssize_t count = send_some(socket_.get(), bytes, descriptors);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return failure("send to the daemon");
    bytes.remove_prefix(static_cast<size_t>(count));
    descriptors = {};  // the first bytes have carried them
  }
  return ok();
}

// False if nothing has arrived and `wait` is false.
Result<bool> Connection::receive(bool wait) {
  char buffer[256 << 10];
  for (;;) {
    const ssize_t count = ::recv(socket_.get(), buffer, sizeof(buffer), wait ? 0 : MSG_DONTWAIT);
    if (count > 0) {
      lines_.feed({buffer, static_cast<size_t>(count)});
      return true;
    }
    if (count == 0) return closed();
    if (errno == EINTR) continue;
    if (errno == EAGAIN) return false;
    return failure("receive from the daemon");
  }
}

// Takes lines until an answer, or until all that has arrived is taken. Notifications are kept as they are: most are
// events, of which there can be millions a second.
Result<std::optional<protocol::Answer>> Connection::next_answer() {
  for (;;) {
    auto line = lines_.next();
    if (!line) return line.error();
    if (!*line) return std::optional<protocol::Answer>{};
    if (!protocol::is_event_or_loss(**line)) {
      auto incoming = protocol::parse_incoming(**line);
      if (!incoming) return incoming.error();
      if (auto* answer = std::get_if<protocol::Answer>(&*incoming))
        return std::optional<protocol::Answer>{std::move(*answer)};
    }
    notifications_.append(**line) += '\n';
  }
}

Result<protocol::Json> Connection::wait_for_answer() {
  for (;;) {
    auto answer = next_answer();
    if (!answer) return answer.error();
    if (*answer) return std::move((**answer).result);
    if (auto received = receive(true); !received) return received.error();
  }
}

Status Connection::ask(const protocol::Method& method, const void* request,
                       std::span<const int> descriptors) {
  const auto params = protocol::codec::write(method.request(), request);
  return send(protocol::call_line(++last_id_, method.name, params), descriptors);
}

Status Connection::take_answer(const protocol::Method& method, void* reply) {
  auto answer = wait_for_answer();
  if (!answer) return answer.error();
  return protocol::codec::read(*answer, method.reply(), reply);
}

// Receives one chunk at a time: if events arrive faster than they are printed, the caller must be able to
// check its clock and signals in between.
Result<std::string> Connection::take_notifications() {
  auto received = receive(false);
  if (!received && notifications_.empty()) return received.error();
  auto answer = next_answer();
  if (!answer) return answer.error();
  return std::exchange(notifications_, {});
}

}  // namespace tracectl
