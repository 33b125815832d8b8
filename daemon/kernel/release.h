// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <sys/utsname.h>

#include <cstdio>
#include <utility>

namespace tracectl {

// For what cannot be tried out. A distribution may have taken a change into an older kernel: a "no"
// must be safe then.
inline bool release_is_at_least(unsigned version, unsigned patch_level) {
  utsname kernel{};
  std::pair<unsigned, unsigned> running;
  if (::uname(&kernel) != 0 ||
      std::sscanf(kernel.release, "%u.%u", &running.first, &running.second) != 2)
    return false;
  return running >= std::pair{version, patch_level};
}

}  // namespace tracectl
