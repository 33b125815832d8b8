// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/control/listener.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <filesystem>

namespace tracectl {
namespace {

// Connections that wait to be accepted. Short, because other clients would wait as long as the queue is if
// somebody keeps filling it; further clients compete for a free place.
constexpr int kMostWaiting = 32;

Status make_directory_of(const std::string& path) {
  std::error_code error;
  const auto directory = std::filesystem::path(path).parent_path();
  if (!directory.empty()) std::filesystem::create_directories(directory, error);
  if (error) return Error::from_errno("make the directory of " + path, error.value());
  return ok();
}

Result<Fd> take_lock(const std::string& path) {
  const std::string name = path + ".lock";
  Fd lock{::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600)};
  if (!lock) return Error::from_errno("open " + name);
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) == 0) return lock;
  if (errno == EWOULDBLOCK)
    return Error{Code::busy, "a tracectld listens on " + path +
                                 " already; stop it, or choose another --socket"};
  return Error::from_errno("lock " + name);
}

Result<Fd> listen_on(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path))
    return Error{Code::invalid, "the path of a socket has at most " +
                                    std::to_string(sizeof(address.sun_path) - 1) +
                                    " bytes: " + path};
  path.copy(address.sun_path, path.size());
  Fd socket{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
  if (!socket) return Error::from_errno("socket");
  // Everybody may connect: the peer's rights decide what it may request (control/rights.h).
  const mode_t before = ::umask(0111);
  const int bound = ::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address));
  ::umask(before);
  if (bound != 0) return Error::from_errno("bind " + path);
  if (::listen(socket.get(), kMostWaiting) != 0) return Error::from_errno("listen on " + path);
  return socket;
}

// While we hold the lock nobody listens there, so the socket is stale. Only a socket is removed.
Status remove_stale(const std::string& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) return ok();
  if (!S_ISSOCK(status.st_mode))
    return Error{Code::invalid, path +
                                    " is there and is not a socket; remove it, or choose "
                                    "another --socket"};
  if (::unlink(path.c_str()) != 0) return Error::from_errno("remove the stale socket " + path);
  return ok();
}

}  // namespace

Result<Listener> Listener::open(const std::string& path) {
  if (auto made = make_directory_of(path); !made) return made.error();
  auto lock = take_lock(path);
  if (!lock) return lock.error();
  if (auto removed = remove_stale(path); !removed) return removed.error();
  auto socket = listen_on(path);
  if (!socket) return socket.error();
  return Listener{path, std::move(*lock), std::move(*socket)};
}

Result<Listener> Listener::on(Fd socket) {
  sockaddr_un address{};
  socklen_t size = sizeof(address) - 1;  // the path may come without its ending zero
  if (::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0)
    return Error::from_errno("the address of the socket that was passed");
  return Listener{address.sun_path, Fd{}, std::move(socket)};
}

Listener::~Listener() {
  if (socket_ && lock_) ::unlink(path_.c_str());
}

}  // namespace tracectl
