// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <sys/socket.h>

#include <vector>

#include "daemon/base/fd.h"

namespace tracectl {

// The descriptors that came with a message that recvmsg(2) filled in. The caller owns them. `msg_flags` says
// whether more were sent than there was room for.
std::vector<Fd> sent_fds(msghdr& message);

// What is passed to functions that send descriptors or only look at them.
std::vector<int> numbers_of(const std::vector<Fd>& fds);

}  // namespace tracectl
