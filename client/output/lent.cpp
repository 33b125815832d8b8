// SPDX-License-Identifier: BSD-2-Clause
#include "client/output/lent.h"

#include <unistd.h>

#include <cstdlib>

namespace tracectl {

bool is_lent() {
  for (const char* set_by_lender : {"SUDO_UID", "PKEXEC_UID", "DOAS_USER"})
    if (std::getenv(set_by_lender)) return true;
  return ::geteuid() != ::getuid();
}

}  // namespace tracectl
