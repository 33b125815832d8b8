// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/sessions/arming_cost.h"

#include <unistd.h>

#include <string>

namespace tracectl {
namespace {

// Measured: 20,000 sites armed by one link added 7.3 MB to the kernel's slabs. To these 365 bytes, of struct uprobe
// with its tree node and list entries, the link's array adds some 110.
constexpr uint64_t kBytesByLink = 480;
// A perf event (1,352 bytes in /proc/slabinfo), its trace_uprobe and struct uprobe.
constexpr uint64_t kBytesByEvent = 2048;

std::string kib(uint64_t bytes) { return std::to_string((bytes + 1023) / 1024) + " KiB"; }

}  // namespace

ArmingCost arming_cost(const Changes& changes, bool one_by_one) {
  const uint64_t each = one_by_one ? kBytesByEvent : kBytesByLink;
  return {.kernel_bytes = changes.breakpoints * each + changes.table_bytes,
          .private_bytes = changes.pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE))};
}

Status check_added(const Changes& changes, std::optional<uint64_t> most, bool one_by_one) {
  if (!most || changes.added <= *most) return ok();
  const ArmingCost cost = arming_cost(changes, one_by_one);
  return Error{Code::exhausted,
               std::to_string(changes.added) + " sites would be armed, more than " +
                   std::to_string(*most) + ". They take about " + kib(cost.kernel_bytes) +
                   " of kernel memory, and " + kib(cost.private_bytes) +
                   " of code become private to each process that maps it. What their hits cost is "
                   "known only when they "
                   "are armed: --budget PERCENT bounds it.\nnothing was changed; --yes arms them",
               "most_added"};
}

}  // namespace tracectl
