// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/sandbox/wire_socket.h"

#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "daemon/base/sent_fds.h"

namespace tracectl {
Status WireSocket::receive_part(char* to, size_t size, Fd& descriptor) {
  while (size > 0) {
    iovec bytes{to, size};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))];
    msghdr message{};
    message.msg_iov = &bytes;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof(control);
    const ssize_t count = ::recvmsg(fd_, &message, MSG_CMSG_CLOEXEC);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return Error::from_errno("recvmsg");
    if (count == 0) return Error{Code::not_found, "the other end is closed"};
    if (auto sent = sent_fds(message); !sent.empty()) descriptor = std::move(sent.back());
    to += count;
    size -= static_cast<size_t>(count);
  }
  return ok();
}

Result<WireSocket::Message> WireSocket::receive() {
  Message message;
  std::string received(wire::kHeaderBytes, '\0');
  if (auto got = receive_part(received.data(), received.size(), message.descriptor); !got)
    return got.error();
  const auto header = wire::header_of(received);
  if (!header) return header.error();
  message.kind = header->kind;
  message.bytes.resize(header->bytes);
  if (auto got = receive_part(message.bytes.data(), header->bytes, message.descriptor); !got)
    return got.error();
  return message;
}

Status WireSocket::send(wire::Kind kind, std::string_view bytes, int descriptor) {
  const std::string frame = wire::frame_of(kind, bytes);
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))]{};
  for (size_t sent = 0; sent < frame.size();) {
    iovec rest{const_cast<char*>(frame.data()) + sent, frame.size() - sent};
    msghdr message{};
    message.msg_iov = &rest;
    message.msg_iovlen = 1;
    if (sent == 0 && descriptor >= 0) {
      message.msg_control = control;
      message.msg_controllen = sizeof(control);
      cmsghdr* const part = CMSG_FIRSTHDR(&message);
      part->cmsg_level = SOL_SOCKET;
      part->cmsg_type = SCM_RIGHTS;
      part->cmsg_len = CMSG_LEN(sizeof(int));
      std::memcpy(CMSG_DATA(part), &descriptor, sizeof(int));
    }
    const ssize_t count = ::sendmsg(fd_, &message, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return Error::from_errno("sendmsg");
    sent += static_cast<size_t>(count);
  }
  return ok();
}

}  // namespace tracectl
