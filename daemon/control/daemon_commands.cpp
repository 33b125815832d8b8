// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/control/daemon_commands.h"

#include <unistd.h>

#include <string>
#include <vector>

#include "daemon/base/clock.h"
#include "daemon/control/request_limits.h"
#include "daemon/kernel/doctor.h"
#include "daemon/protocol/methods.h"

namespace tracectl {
namespace {

using namespace protocol;

std::vector<std::string> method_names() {
  std::vector<std::string> names;
  for (const Method& one : all_methods()) names.emplace_back(one.name);
  return names;
}

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

DaemonCommands::DaemonCommands(Engine& engine, const ServerCounts& counts,
                               const FlightRecorders& recorders)
    : engine_(engine), counts_(counts), recorders_(recorders), started_ns_(boot_ns()) {}

Result<HelloReply> DaemonCommands::handle(const Hello&, Peer&) {
  return HelloReply{
      .daemon = "tracectld", .version = TRACECTL_VERSION, .protocol = 1, .methods = method_names()};
}

Result<StatusReply> DaemonCommands::handle(const DaemonStatus&, Peer&) {
  return StatusReply{.version = TRACECTL_VERSION,
                     .pid = ::getpid(),
                     .uptime_s = (boot_ns() - started_ns_) / 1'000'000'000,
                     .epoch = engine_.kernel().switching().epoch(),
                     .sessions = engine_.sessions().size(),
                     .sites = engine_.slots().by_id.size(),
                     .links = engine_.slots().links.size(),
                     .clients = counts_.clients,
                     .lingering = engine_.slots().lingering(),
                     .memory_bytes = resident_bytes(),
                     .memory_limit_bytes = engine_.options().memory_bytes,
                     .kernel = kernel_release()};
}

Result<StatsReply> DaemonCommands::handle(const DaemonStats&, Peer&) {
  const EngineStats& engine = engine_.switches().stats();
  const ReaderStats reader = engine_.streams().stats();
  const Slots& slots = engine_.slots();
  return StatsReply{.commits = engine.commits,
                    .failed_commits = engine.failed_commits,
                    .switches = engine.switches,
                    .requests = counts_.requests,
                    .refused_requests = counts_.refused_requests,
                    .events_read = reader.events,
                    .ring_bytes_read = reader.bytes,
                    .ring_drops = reader.dropped,
                    .client_drops = counts_.client_drops,
                    .dumps = recorders_.counts().written,
                    .failed_dumps = recorders_.counts().failed,
                    .slots_used = slots.slot_ids.used(),
                    .slots_limit = slots.slot_ids.limit(),
                    .hooks_used = slots.hook_ids.used(),
                    .hooks_limit = slots.hook_ids.limit(),
                    .keys_limit = TC_MAX_KEYS,
                    .rings_open = engine_.streams().rings_open(),
                    .ring_bytes_each = engine_.options().ring_bytes};
}

Result<TopReply> DaemonCommands::handle(const DaemonTop&, Peer& peer) {
  TopReply reply{.ts = boot_ns(), .probes = {}};
  for (const auto& [name, session] : engine_.sessions()) {
    if (!may_use(peer, session)) continue;
    for (const ProbeTotals& totals : engine_.counting().probe_totals(session))
      reply.probes.push_back(totals_part(session, totals));
  }
  return reply;
}

// The trials of the kernel fork children, which inherit the descriptors of links, so no link may be closed meanwhile.
Result<DoctorReply> DaemonCommands::handle(const DaemonDoctor&, Peer&) {
  DoctorReply reply;
  engine_.kernel().long_work().run([&] { reply = examination_.last(); });
  return reply;
}

}  // namespace tracectl
