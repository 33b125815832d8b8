// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/kernel/own_child.h"

#include <signal.h>
#include <sys/wait.h>

#include <cerrno>

namespace tracectl {

OwnChild::~OwnChild() {
  if (pid_ < 0) return;
  const int err = errno;
  ::kill(pid_, SIGKILL);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {}
  errno = err;
}

}  // namespace tracectl
