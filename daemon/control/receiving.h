// SPDX-License-Identifier: BSD-2-Clause
//
// Receives messages of users that carry descriptors. To close a descriptor can block for ever: close(2) of a FUSE
// file waits for the file system's process, that of a TCP socket for its peer (SO_LINGER), and a signal ends neither.
// fstat(2) and fstatfs(2) ask the FUSE process as well. A descriptor that was sent and not received is closed by
// whoever reads past it or closes the connection. So each user has a thread for all of this, which may block, and the
// thread that serves all clients does none of it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "daemon/base/fd.h"
#include "daemon/base/result.h"

namespace tracectl {

class Receiving {
 public:
  // The most users that have a thread at a time; others wait until one of the threads is free.
  static constexpr size_t kMostThreads = 32;

  struct Received {
    uint64_t connection = 0;
    std::string bytes;  // empty if nothing came
    bool ended = false;
    // All are of regular files, and none of FUSE.
    std::vector<Fd> descriptors;
    std::optional<Error> error = {};  // if set, the connection is unusable
  };

  // The most that is received by one call.
  struct Bounds {
    size_t bytes;
    size_t descriptors;
  };
  static Result<std::unique_ptr<Receiving>> start(const Bounds& bounds);
  // Does not wait for its threads.
  ~Receiving();

  // Readable when take() has something.
  int fd() const;
  // Receives once from a connection whose next bytes came with descriptors; this may take any time. `connection`:
  // the caller's number for it.
  Status receive(uint64_t connection, uid_t user, const Fd& socket);
  std::vector<Received> take();

  // Closes a connection whose peer can send no more, and with it the descriptors that were sent and not received.
  void let_go(uid_t user, Fd socket);
  // The number of the user's sockets that are not closed yet.
  size_t let_go_of(uid_t user) const;

 private:
  struct Shared;
  explicit Receiving(std::shared_ptr<Shared> shared) : shared_(std::move(shared)) {}

  std::shared_ptr<Shared> shared_;
};

// Whether the next bytes on a connected Unix stream socket carry descriptors. Receives nothing; `bytes`: the number
// of bytes before the descriptors.
struct ComesNext {
  ssize_t bytes = 0;  // as recvmsg(2) returns it, with errno
  bool descriptors = false;
};
ComesNext look_ahead(const Fd& socket, char* buffer, size_t size);

}  // namespace tracectl
