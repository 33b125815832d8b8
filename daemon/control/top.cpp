// SPDX-License-Identifier: BSD-2-Clause
//
// daemon.top.
#include "daemon/base/clock.h"
#include "daemon/control/commands.h"

namespace tracectl {
namespace {

using namespace protocol;

ProbeTotalsPart totals_part(const Session& session, const ProbeTotals& totals) {
  ProbeTotalsPart part{.probe = totals.probe,
                       .session = session.name,
                       .cost = name_of(totals.cost),
                       .hits = totals.hits,
                       .lost = totals.lost,
                       .cost_ns = static_cast<uint64_t>(totals.cost_ns)};
  if (totals.pid) part.pid = totals.pid;
  return part;
}

}  // namespace

Result<TopReply> Commands::handle(const DaemonTop&, Peer& peer) {
  TopReply reply{.ts = boot_ns(), .probes = {}};
  for (const auto& [name, session] : engine_.sessions()) {
    if (why_not(peer, session.name)) continue;
    for (const ProbeTotals& totals : engine_.counting().probe_totals(session))
      reply.probes.push_back(totals_part(session, totals));
  }
  return reply;
}

}  // namespace tracectl
