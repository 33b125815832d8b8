// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/base/fd.h"

#include <unistd.h>

namespace tracectl {

void Fd::reset() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

}  // namespace tracectl
