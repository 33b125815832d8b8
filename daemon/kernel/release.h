// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <sys/utsname.h>

#include <cstdio>
#include <utility>

namespace tracectl {

// For properties that cannot be tried. A distribution may have backported a change to an older kernel, so
// a "no" must be safe.
inline bool release_is_at_least(unsigned version, unsigned patch_level) {
  utsname kernel{};
  std::pair<unsigned, unsigned> running;
  if (::uname(&kernel) != 0 ||
      std::sscanf(kernel.release, "%u.%u", &running.first, &running.second) != 2)
    return false;
  return running >= std::pair{version, patch_level};
}

}  // namespace tracectl
