// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <sys/socket.h>

#include <vector>

#include "daemon/base/fd.h"

namespace tracectl {

// The descriptors that came with a message that recvmsg(2) filled in. The caller owns them. `msg_flags` says
// whether more were sent than there was room for.
std::vector<Fd> sent_fds(msghdr& message);

}  // namespace tracectl
