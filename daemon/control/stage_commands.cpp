// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/control/stage_commands.h"

#include <new>
#include <utility>

#include "daemon/control/explain.h"
#include "daemon/control/log.h"
#include "daemon/control/parts.h"
#include "daemon/control/request_limits.h"
#include "daemon/control/stage_request.h"
#include "daemon/protocol/convert.h"
#include "daemon/spec/names.h"

namespace tracectl {
namespace {

using namespace protocol;

const Site* first_site(const Resolution& resolution) {
  for (const Resolved& part : resolution.parts)
    for (const Probe& probe : *part.probes)
      if (!probe.sites.empty()) return &probe.sites.front();
  return nullptr;
}

void log_commit(const Peer& peer, const StageCommit& request, const Result<CommitSummary>& done) {
  if (!done)
    return log_warning("commit session={} uid={} pid={} failed: {}", request.session, peer.uid,
                       peer.pid, done.error().message);
  if (request.dry_run) return;
  log_info(
      "commit session={} uid={} pid={} epoch={} probes={} sites={} added={} updated={} removed={}",
      request.session, peer.uid, peer.pid, done->epoch, done->probes, done->sites, done->added,
      done->updated, done->removed);
}

}  // namespace

// None if the setting covers no site, or its spec is not possible at the first site it covers.
std::optional<SpecPart> StageCommands::explained(const Setting& setting, const Access& access) {
  const auto returns = follows_calls(setting) ? std::optional(setting.returns) : std::nullopt;
  const auto found = engine_.list(
      {setting.pattern}, setting.target, access,
      {.returns = returns, .symbols = symbols_of(setting), .field_paths = field_paths_of(setting)});
  const Site* site = found ? first_site(*found) : nullptr;
  if (!site) return std::nullopt;
  auto part = explain(setting, *site);
  if (!part) return std::nullopt;
  return std::move(*part);
}

// The next daemon needs the files of a saved session.
Status StageCommands::give_file(const Session& session, Fd file, const std::string& path,
                                const std::string& debug_of) {
  if (session.saved)
    if (auto kept = saved_.save_file(file); !kept) return in_field(kept.error(), "files");
  auto given = engine_.give_file(session.name, std::move(file), path, debug_of);
  if (!given) saved_.forget_strays();
  return given;
}

Status StageCommands::give_all(const Session& session, Peer& peer,
                               const std::vector<std::string>& files,
                               const std::vector<DebugFilePart>& debug_files) {
  return give_files(peer, files, debug_files,
                    [&](Fd fd, const std::string& path, const std::string& debug_of) {
                      return give_file(session, std::move(fd), path, debug_of);
                    });
}

Result<StageReply> StageCommands::handle(const StageSet& request, Peer& peer) {
  size_t asked = request.patterns.size();
  if (request.graph) asked += request.graph->only.size() + request.graph->beside.size();
  if (auto within = may_match(asked, peer, engine_.options().quota); !within) return within.error();
  auto settings = settings_of(request);
  if (!settings) return settings.error();
  auto session = engine_.sessions().find(request.session);
  if (!session) return session.error();
  auto given = give_all(**session, peer, request.files, request.debug_files);
  if (!given) return given.error();
  const Setting first = settings->front();
  engine_.resolver().begin_slice();
  auto staged = engine_.drafts().set(request.session, std::move(*settings));
  if (!staged) return staged.error();
  StageReply reply = tracectl::part_of(*staged);
  (void)engine_.resolver().end_slice();
  if (request.explain) reply.spec = explained(first, (*session)->access);
  return reply;
}

Result<StageReply> StageCommands::handle(const StageRemove& request, Peer& peer) {
  if (auto within = check_patterns(request.patterns.size(), peer, engine_.options().quota); !within)
    return within.error();
  auto patterns = patterns_of(request.patterns, request.scope);
  if (!patterns) return patterns.error();
  std::optional<Target> target;
  if (request.target) {
    auto given = target_of(*request.target);
    if (!given) return given.error();
    target = std::move(*given);
  }
  auto staged = engine_.drafts().remove(request.session, *patterns, target);
  if (!staged) return staged.error();
  return tracectl::part_of(*staged);
}

Result<CommitReply> StageCommands::handle(const StageCommit& request, Peer& peer) {
  return std::move(commit({{&request, &peer}}).front());
}

std::vector<Result<CommitReply>> StageCommands::commit(
    const std::vector<CommitRequestOf>& asked) try {
  std::vector<CommitRequest> requests;
  for (const auto& [request, peer] : asked)
    requests.push_back({request->session,
                        {.partial = request->partial,
                         .strict = request->strict,
                         .dry_run = request->dry_run,
                         .most_added = request->most_added}});
  auto done = engine_.commits().commit_together(requests);
  std::vector<Result<CommitReply>> replies;
  // A commit that has to wait for a file is requested again, and logged then.
  const bool any_waits = engine_.reading().awaited().has_value();
  for (size_t i = 0; i < asked.size(); ++i) {
    if (done[i] || !any_waits) log_commit(*asked[i].peer, *asked[i].request, done[i]);
    replies.push_back(done[i] ? Result<CommitReply>(tracectl::part_of(*done[i]))
                              : Result<CommitReply>(done[i].error()));
  }
  saved_.save_changes();
  return replies;
} catch (const std::bad_alloc&) {
  return {asked.size(), Result<CommitReply>(out_of_memory())};
}

Result<CommitReply> StageCommands::handle(const StageJoin& request, Peer& peer) {
  const auto containers = containers_of(request.containers);
  if (!containers) return containers.error();
  auto session = engine_.sessions().find(request.session);
  if (!session) return session.error();
  auto given = give_all(**session, peer, request.files, {});
  if (!given) return given.error();
  auto joined = engine_.following().join(request.session, *containers);
  if (!joined && engine_.reading().awaited()) return joined.error();  // it is made again
  log_commit(peer, {.session = request.session}, joined);
  if (!joined) return joined.error();
  return tracectl::part_of(*joined);
}

Result<GrowReply> StageCommands::handle(const StageGrow& request, Peer& peer) {
  auto grown = engine_.graph_growth().grow(request.session);
  if (!grown) {
    log_warning("grow session={} uid={} pid={} failed: {}", request.session, peer.uid, peer.pid,
                grown.error().message);
    return grown.error();
  }
  if (!grown->added.empty())
    log_info("grow session={} uid={} pid={} epoch={} added={}", request.session, peer.uid, peer.pid,
             grown->epoch, grown->added.size());
  return GrowReply{grown->epoch, std::move(grown->added), std::move(grown->refused),
                   grown->unknown};
}

Result<Empty> StageCommands::handle(const StageAbort& request, Peer&) {
  auto aborted = engine_.drafts().abort(request.session);
  if (!aborted) return aborted.error();
  return Empty{};
}

}  // namespace tracectl
