// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>

#include "daemon/base/fd.h"
#include "daemon/base/result.h"

namespace tracectl {

// The daemon's listening socket. A lock file beside a socket that the daemon made shows whether a daemon runs or
// the socket is stale: the kernel releases the lock when the process ends.
class Listener {
 public:
  // Makes missing directories of the path. Fails with Code::busy if another daemon listens.
  static Result<Listener> open(const std::string& path);
  // Uses a socket that another process made. That process locks it against others and removes it.
  static Result<Listener> on(Fd socket);
  Listener(Listener&&) = default;
  Listener& operator=(Listener&&) = delete;
  ~Listener();

  int fd() const { return socket_.get(); }
  const std::string& path() const { return path_; }

 private:
  Listener(std::string path, Fd lock, Fd socket)
      : path_(std::move(path)), lock_(std::move(lock)), socket_(std::move(socket)) {}

  std::string path_;
  Fd lock_;
  Fd socket_;
};

}  // namespace tracectl
