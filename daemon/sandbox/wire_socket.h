// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <string_view>

#include "daemon/base/fd.h"
#include "daemon/base/result.h"
#include "daemon/sandbox/wire.h"

namespace tracectl {

// One end of the socket between a daemon and a process that reads for it. Transfers frames, with or
// without a descriptor.
class WireSocket {
 public:
  // Borrows the descriptor.
  explicit WireSocket(int fd) : fd_(fd) {}

  struct Message {
    wire::Kind kind = wire::Kind::answer;
    std::string bytes;
    Fd descriptor;  // the one that came with it, if any
  };

  // Waits for a complete message. Code::not_found if the other end is closed.
  Result<Message> receive();
  // Waits until all is sent. `descriptor` is -1 for none.
  Status send(wire::Kind kind, std::string_view bytes, int descriptor = -1);

 private:
  Status receive_part(char* to, size_t size, Fd& descriptor);

  int fd_;
};

}  // namespace tracectl
