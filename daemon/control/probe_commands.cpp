// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/control/probe_commands.h"

#include <functional>
#include <set>
#include <string>
#include <utility>

#include "daemon/base/sent_fds.h"
#include "daemon/control/request_limits.h"
#include "daemon/control/stage_request.h"
#include "daemon/model/field_path.h"
#include "daemon/protocol/convert.h"

namespace tracectl {
namespace {

using namespace protocol;

// Matches the proven processes, for one request. The birth tells a process from a later one with the same pid.
std::function<bool(const Process&)> only(const std::vector<ProvenMemory>& proven) {
  std::set<std::pair<pid_t, uint64_t>> known;
  for (const ProvenMemory& memory : proven)
    if (const auto process = Process::open(memory.pid)) known.emplace(memory.pid, process->birth());
  return [known = std::move(known)](const Process& process) {
    return known.contains({process.pid(), process.birth()});
  };
}

}  // namespace

Result<ProbeListReply> ProbeCommands::handle(const ProbeList& request, Peer& peer) {
  auto found = list(request, peer);
  if (!found) return found.error();
  return reply_of(*found);
}

Result<ProbesFound> ProbeCommands::list(const ProbeList& request, Peer& peer) {
  if (auto within = may_match(request.patterns.size(), peer, engine_.options().quota); !within)
    return within.error();
  auto patterns = patterns_of(request.patterns, request.scope);
  if (!patterns) return patterns.error();
  auto target = target_of(request.target);
  if (!target) return target.error();
  Access access{.owner = peer.owner, .files = {}};
  auto given = give_files(peer, request.files, request.debug_files,
                          [&](Fd fd, const std::string& path, const std::string& debug_of) {
                            return access.give(std::move(fd), path, debug_of);
                          });
  if (!given) return given.error();
  const auto memories = take_proofs(peer, request.proofs);
  if (!memories) return memories.error();
  if (access.owner) {
    const auto proven = engine_.proofs().prove(numbers_of(*memories));
    if (!proven) return proven.error();
    access.is_proven = only(*proven);
  }
  Wanted wanted;
  if (request.types) {
    if (*request.types < 1 || *request.types > kMostFieldLevels)
      return Error{Code::invalid,
                   "types lists fields 1 to " + std::to_string(kMostFieldLevels) + " levels deep",
                   "types"};
    wanted.field_levels = static_cast<uint32_t>(*request.types);
  }
  if (request.returns) {
    auto returns = returns_of(*request.returns);
    if (!returns) return returns.error();
    wanted.returns = *returns;
  }
  engine_.resolver().begin_slice();
  auto found = engine_.list(*patterns, *target, access, wanted);
  if (!found) return found.error();
  ProbesFound probes{std::move(*found), std::nullopt};
  if (request.returns) probes.costs = HitCosts::measured(engine_.kernel().hit_costs());
  return probes;
}

Result<ProbeInfoReply> ProbeCommands::handle(const ProbeInfo& request, Peer& peer) {
  auto found = info(request, peer);
  if (!found) return found.error();
  return reply_of(*found);
}

Result<ProbesInfo> ProbeCommands::info(const ProbeInfo& request, const Peer& peer) const {
  auto patterns = patterns_of({request.pattern}, request.scope);
  if (!patterns) return in_field(patterns.error(), "pattern");
  const auto may_see = [&](const std::string& session) {
    return !why_not(peer, engine_.sessions(), session);
  };
  ProbesInfo info{engine_.info(patterns->front(), may_see), std::nullopt};
  if (request.generations) info.epoch = engine_.kernel().switching().epoch();
  return info;
}

}  // namespace tracectl
