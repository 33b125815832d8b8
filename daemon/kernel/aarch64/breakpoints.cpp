// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/kernel/breakpoints.h"

#include <cerrno>

namespace tracectl {

// This machine has no 5-byte nops.
std::vector<Fd> keep_breakpoints(int, int, std::span<const uint64_t>, std::span<const uint64_t>,
                                 const IgnoreHits&) {
  errno = ENOEXEC;
  return {};
}

}  // namespace tracectl
