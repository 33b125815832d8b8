// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/control/request_limits.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>

namespace tracectl {
namespace {

constexpr size_t kMostPatterns = 10'000;  // in a request of a peer that may trace every process

}  // namespace

size_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  size_t all = 0, resident = 0;
  file >> all >> resident;
  return resident * static_cast<size_t>(::getpagesize());
}

Status check_memory(const Peer& peer, size_t most) {
  if (!peer.owner || resident_bytes() < most) return ok();
  return Error{Code::exhausted, "the daemon has the " + std::to_string(most) +
                                    " bytes of memory that it may have: end sessions, or try again "
                                    "later (memory-bytes in tracectld.json)"};
}

Error out_of_memory() { return Error{Code::exhausted, "there is not enough memory for this"}; }

Status check_patterns(size_t patterns, const Peer& peer, const Quota& quota) {
  const size_t of_user = quota.patterns;
  const size_t most = peer.owner ? of_user : std::max(of_user, kMostPatterns);
  if (patterns <= most) return ok();
  return Error{Code::exhausted,
               "a request may have " + std::to_string(most) +
                   " patterns: make several of it (quota.patterns in tracectld.json bounds users)",
               "patterns"};
}

Status may_match(size_t patterns, const Peer& peer, const Quota& quota) {
  if (auto within = check_patterns(patterns, peer, quota); !within) return within;
  return peer.check_matches ? peer.check_matches() : ok();
}

}  // namespace tracectl
