// SPDX-License-Identifier: BSD-2-Clause
#include "client/output/lent.h"

#include <unistd.h>

#include <cstdlib>

namespace tracectl {

bool is_lent() {
  return std::getenv("SUDO_UID") || std::getenv("PKEXEC_UID") || ::geteuid() != ::getuid();
}

}  // namespace tracectl
