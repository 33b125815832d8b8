// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/model/latencies.h"

#include <algorithm>
#include <tuple>

namespace tracectl {

void LatencyResult::add(const LatencyResult& other) {
  started += other.started;
  overwritten += other.overwritten;
  matched += other.matched;
  unmatched += other.unmatched;
  unread += other.unread;
  dropped += other.dropped;
  unlisted += other.unlisted;
  carried += other.carried;
  wanted = std::max(wanted, other.wanted);
  slowest.insert(slowest.end(), other.slowest.begin(), other.slowest.end());
  std::sort(slowest.begin(), slowest.end(), [](const SlowPair& a, const SlowPair& b) {
    return std::tie(b.duration_ns, a.ended_ns) < std::tie(a.duration_ns, b.ended_ns);
  });
  if (slowest.size() > wanted) slowest.resize(wanted);
}

}  // namespace tracectl
