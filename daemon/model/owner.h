// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <sys/types.h>

#include <cstdint>

namespace tracectl {

// A user who may trace what it could ptrace(2), and nothing else: as the kernel's
// PTRACE_MODE_READ_REALCREDS has it.
struct Owner {
  uid_t uid = 0;
  gid_t gid = 0;
  uint64_t capabilities = 0;    // permitted to it, a bit each
  uint32_t user_namespace = 0;  // its number, as /proc/PID/ns/user has it

  bool operator==(const Owner&) const = default;
};

}  // namespace tracectl
