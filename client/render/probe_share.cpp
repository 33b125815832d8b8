// SPDX-License-Identifier: BSD-2-Clause
#include "client/render/probe_share.h"

#include <fmt/core.h>

namespace tracectl {
namespace {

double probe_share(uint64_t probes_ns, uint64_t total_ns) {
  const double probes = static_cast<double>(probes_ns);
  const double passed = probes + static_cast<double>(total_ns);
  return passed > 0 ? probes / passed : 0;
}

}  // namespace

bool is_mostly_probes(uint64_t probes_ns, uint64_t total_ns) {
  return probe_share(probes_ns, total_ns) > 0.5;
}

std::string probe_share_text(uint64_t probes_ns, uint64_t total_ns) {
  return fmt::format("{:.0f} %", 100 * probe_share(probes_ns, total_ns));
}

}  // namespace tracectl
