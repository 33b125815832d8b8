// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <sys/socket.h>

#include <vector>

#include "daemon/base/fd.h"

namespace tracectl {

// Those that came with a message that recvmsg(2) has filled in; the caller's from then on. Whether more were
// sent than there was room for is for `msg_flags` to say.
std::vector<Fd> sent_fds(msghdr& message);

}  // namespace tracectl
