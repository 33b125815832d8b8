// SPDX-License-Identifier: BSD-2-Clause
//
// What users send with descriptors. To let go of a descriptor can take for ever: close(2) of a file of FUSE waits
// for the file system's process, that of a TCP socket for its peer (SO_LINGER), and both where a signal does not
// end it. fstat(2) and fstatfs(2) ask that process, too; and a descriptor that came and was never taken is let go
// of by whoever reads past it or closes the connection. So all of this is done by a thread for each user, which may
// stand still, and never by the thread that serves everybody.
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
  // So many users can have a thread; others wait until one of them ends.
  static constexpr size_t kMostThreads = 32;

  struct Received {
    uint64_t connection = 0;
    std::string bytes;  // none: it was nothing
    bool ended = false;
    // Of regular files, and not of FUSE.
    std::vector<Fd> descriptors;
    std::optional<Error> error = {};  // the connection is of no use any more
  };

  // With one call at most so many bytes and descriptors are received.
  struct Bounds {
    size_t bytes;
    size_t descriptors;
  };
  static Result<std::unique_ptr<Receiving>> start(const Bounds& bounds);
  // Waits for no thread.
  ~Receiving();

  // Readable when take() has something.
  int fd() const;
  // Once, from a connection whose next bytes came with descriptors. `connection`: the caller's number for it.
  // Cannot tell when that will be.
  Status receive(uint64_t connection, uid_t user, const Fd& socket);
  std::vector<Received> take();

  // Of a connection whose peer can send no more: closed, with what lies in it.
  void let_go(uid_t user, Fd socket);
  // That are not closed yet.
  size_t let_go_of(uid_t user) const;

 private:
  struct Shared;
  explicit Receiving(std::shared_ptr<Shared> shared) : shared_(std::move(shared)) {}

  std::shared_ptr<Shared> shared_;
};

// Whether what comes next on a connected Unix stream socket has descriptors with it. Takes nothing, and none of
// them; `bytes`: those before.
struct ComesNext {
  ssize_t bytes = 0;  // as recvmsg(2) returns it, with errno
  bool descriptors = false;
};
ComesNext look_ahead(const Fd& socket, char* buffer, size_t size);

}  // namespace tracectl
