// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <sys/types.h>

#include <cstdint>

namespace tracectl {

// A user, who may trace exactly the processes that it could ptrace(2), by the kernel's
// PTRACE_MODE_READ_REALCREDS.
struct Owner {
  uid_t uid = 0;
  gid_t gid = 0;
  uint64_t capabilities = 0;    // its permitted ones, one bit each
  uint32_t user_namespace = 0;  // its number, as in /proc/PID/ns/user

  bool operator==(const Owner&) const = default;
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("uid", s.uid);
    f("gid", s.gid);
    f("capabilities", s.capabilities);
    f("user_namespace", s.user_namespace);
  }
};

}  // namespace tracectl
