// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/control/commands.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <set>
#include <utility>

#include "daemon/base/clock.h"
#include "daemon/control/accounts.h"
#include "daemon/control/explain.h"
#include "daemon/control/log.h"
#include "daemon/control/parts.h"
#include "daemon/control/stage_request.h"
#include "daemon/kernel/doctor.h"
#include "daemon/protocol/convert.h"
#include "daemon/protocol/methods.h"

namespace tracectl {
namespace {

using namespace protocol;

constexpr size_t kMostPatterns = 10'000;  // in a request of a peer that may trace every process

// Resident memory of this process, 0 if it cannot be read.
size_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  size_t all = 0, resident = 0;
  file >> all >> resident;
  return resident * static_cast<size_t>(::getpagesize());
}

const Site* first_site(const Resolution& resolution) {
  for (const Resolved& part : resolution.parts)
    for (const Probe& probe : *part.probes)
      if (!probe.sites.empty()) return &probe.sites.front();
  return nullptr;
}

std::vector<std::string> method_names() {
  std::vector<std::string> names;
  for (const Method& one : all_methods()) names.emplace_back(one.name);
  return names;
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

Result<SwitchReply> answer(const char* what, const std::string& session, const Peer& peer,
                           const Result<SwitchSummary>& done) {
  if (!done) {
    log_warning("{} session={} uid={} pid={} failed: {}", what, session, peer.uid, peer.pid,
                done.error().message);
    return done.error();
  }
  log_info("{} session={} uid={} pid={} epoch={} sessions={} sites={}", what, session, peer.uid,
           peer.pid, done->epoch, done->sessions, done->sites);
  return tracectl::part_of(*done);
}

// Takes a descriptor for each path and passes both to `give`.
template <class Give>
Status give_files(Peer& peer, const std::vector<std::string>& paths, const Give& give) {
  auto files = take_descriptors(peer, paths.size(), "to look for probes in");
  if (!files) return in_field(files.error(), "files");
  for (size_t i = 0; i < paths.size(); ++i)
    if (auto given = give(std::move((*files)[i]), paths[i]); !given) return given;
  return ok();
}

std::vector<int> numbers_of(const std::vector<Fd>& files) {
  std::vector<int> numbers;
  for (const Fd& file : files) numbers.push_back(file.get());
  return numbers;
}

Result<std::vector<Fd>> take_proofs(Peer& peer, uint64_t proofs) {
  if (proofs > kMostProofsOfRequest)
    return Error{Code::invalid,
                 "a request has at most " + std::to_string(kMostProofsOfRequest) + " proofs",
                 "proofs"};
  auto memories = take_descriptors(peer, proofs, "of the memory of processes");
  if (!memories) return in_field(memories.error(), "proofs");
  return memories;
}

// Matches the proven processes, for one request. The birth tells a process from a later one with the same pid.
std::function<bool(const Process&)> only(const std::vector<ProvenMemory>& proven) {
  std::set<std::pair<pid_t, uint64_t>> known;
  for (const ProvenMemory& memory : proven)
    if (const auto process = Process::open(memory.pid)) known.emplace(memory.pid, process->birth());
  return [known = std::move(known)](const Process& process) {
    return known.contains({process.pid(), process.birth()});
  };
}

// Whether the peer has all rights of the owner.
bool has_rights_of(const Owner& peer, const Owner& owner) {
  return peer.uid == owner.uid && peer.gid == owner.gid &&
         peer.user_namespace == owner.user_namespace && !(owner.capabilities & ~peer.capabilities);
}

bool may_use(const Peer& peer, const Session& session) {
  if (!peer.owner) return true;
  return session.access.owner && has_rights_of(*peer.owner, *session.access.owner);
}

}  // namespace

Result<std::vector<Fd>> take_descriptors(Peer& peer, size_t count, const char* of) {
  if (peer.descriptors.size() < count)
    return Error{Code::invalid, "of " + std::to_string(count) +
                                    (count == 1 ? " file " : " files ") + of + " " +
                                    std::to_string(peer.descriptors.size()) +
                                    " came: send descriptors with the request (SCM_RIGHTS)"};
  std::vector<Fd> files;
  for (; count > 0; --count) {
    files.push_back(std::move(peer.descriptors.front()));
    peer.descriptors.pop_front();
  }
  return files;
}

std::optional<Error> Commands::why_not(const Peer& peer, const std::string& name) const {
  const auto session = engine_.sessions().find(name);
  if (!session || may_use(peer, **session)) return std::nullopt;
  return Error{Code::denied, "session \"" + name + "\" is another user's", "session"};
}

Commands::Commands(Engine& engine, const ServerCounts& counts,
                   std::optional<FlightRecorders::Unasked> unasked, DescriptorStore* store)
    : engine_(engine),
      counts_(counts),
      started_ns_(boot_ns()),
      flight_recorders_(engine, std::move(unasked)),
      saved_(engine, flight_recorders_, store) {}

Result<HelloReply> Commands::handle(const Hello&, Peer&) {
  return HelloReply{
      .daemon = "tracectld", .version = TRACECTL_VERSION, .protocol = 1, .methods = method_names()};
}

// ---- probes ----

// The number is limited because each pattern is searched for in every file of every process of the target.
Status Commands::check_patterns(size_t patterns, const Peer& peer) const {
  const size_t of_user = engine_.options().quota.patterns;
  const size_t most = peer.owner ? of_user : std::max(of_user, kMostPatterns);
  if (patterns <= most) return ok();
  return Error{Code::exhausted,
               "a request may have " + std::to_string(most) +
                   " patterns: make several of it (quota.patterns in tracectld.json bounds users)",
               "patterns"};
}

Status Commands::may_match(size_t patterns, const Peer& peer) const {
  if (auto within = check_patterns(patterns, peer); !within) return within;
  return peer.check_matches ? peer.check_matches() : ok();
}

Result<ProbeListReply> Commands::handle(const ProbeList& request, Peer& peer) {
  auto found = list(request, peer);
  if (!found) return found.error();
  return reply_of(*found);
}

Result<Resolution> Commands::list(const ProbeList& request, Peer& peer) {
  if (auto within = may_match(request.patterns.size(), peer); !within) return within.error();
  auto patterns = patterns_of(request.patterns, request.scope);
  if (!patterns) return patterns.error();
  auto target = target_of(request.target);
  if (!target) return target.error();
  Access access{.owner = peer.owner, .files = {}};
  auto given = give_files(peer, request.files, [&](Fd fd, const std::string& path) {
    return access.give(std::move(fd), path);
  });
  if (!given) return given.error();
  const auto memories = take_proofs(peer, request.proofs);
  if (!memories) return memories.error();
  if (access.owner) {
    const auto proven = engine_.proofs().prove(numbers_of(*memories));
    if (!proven) return proven.error();
    access.is_proven = only(*proven);
  }
  engine_.resolver().begin_slice();
  return engine_.list(*patterns, *target, access);
}

Result<ProbeInfoReply> Commands::handle(const ProbeInfo& request, Peer& peer) {
  auto found = info(request, peer);
  if (!found) return found.error();
  return reply_of(*found);
}

Result<ProbesInfo> Commands::info(const ProbeInfo& request, const Peer& peer) const {
  auto patterns = patterns_of({request.pattern}, request.scope);
  if (!patterns) return in_field(patterns.error(), "pattern");
  const auto may_see = [&](const std::string& session) { return !why_not(peer, session); };
  ProbesInfo info{engine_.info(patterns->front(), may_see), std::nullopt};
  if (request.generations) info.epoch = engine_.kernel().switching().epoch();
  return info;
}

// ---- sessions ----

SessionPart Commands::part_of(const Session& session) const {
  SessionPart part;
  part.name = session.name;
  part.named = session.named;
  if (session.access.owner) part.user = session.access.owner->uid;
  part.saved = session.saved;
  part.paused = engine_.gates().is_paused(session);
  part.triggered_by = engine_.gates().triggered_by(session);
  for (const Setting& setting : session.settings)
    part.settings.push_back(tracectl::part_of(setting));
  if (session.draft) {
    part.draft.emplace();
    for (const Setting& setting : *session.draft) part.draft->push_back(tracectl::part_of(setting));
  }
  const Totals totals = engine_.counting().totals(session);
  std::set<std::string_view> probes;
  for (const auto& [slot, hooks] : session.hooks)
    for (const SessionHook& held : hooks) probes.insert(*held.probe);
  part.epoch = session.epoch;
  part.probes = probes.size();
  part.sites = session.hooks.size();
  part.hits = totals.hits;
  part.filtered = totals.filtered;
  part.silenced = totals.silenced;
  part.lost = totals.dropped_ring;
  part.marks_lost = engine_.counting().marks_lost(session);
  if (const auto unproven = engine_.counting().unproven(session); unproven.processes)
    part.unproven = {unproven.processes, unproven.hits};
  if (session.budget) {
    part.budget = session.budget->percent;
    part.left_out = parts_of(session.budget->left_out);
  }
  part.recorder = flight_recorders_.part_of(session.name);
  part.followed = followed_parts(session.followed);
  if (const auto* facts = saved_.known_of(session.name)) {
    part.gap = facts->gap;
    part.not_resumed = facts->not_resumed;
  }
  return part;
}

Status Commands::check_saved(const SessionCreate& request) const {
  if (!request.saved) return ok();
  if (!request.name) return Error{Code::invalid, "a session that is saved has a name", "saved"};
  if (saved_.can_save()) return ok();
  return Error{Code::unsupported,
               "this daemon cannot save a session for the next one: only a daemon that systemd has "
               "started can",
               "saved"};
}

void Commands::save_sessions() {
  if (auto saved = saved_.save(); !saved)
    log_error("the next daemon will find saved sessions as they were: {}", saved.error().message);
}

Result<SessionPart> Commands::handle(const SessionCreate& request, Peer& peer) {
  if (request.name && request.name->empty())
    return Error{Code::invalid, "a session's name is empty", "name"};
  if (auto good = check_recorder(request); !good) return good.error();
  if (auto good = check_saved(request); !good) return good.error();
  if (request.recorder && peer.owner) {
    const Quota& quota = engine_.options().quota;
    auto within = flight_recorders_.check_memory_of(peer.uid, *request.recorder, quota);
    if (!within) return within.error();
  }
  auto session =
      engine_.create_session(request.name.value_or(""), request.budget, peer.owner, request.saved);
  if (!session) return session.error();
  if (request.recorder)
    if (auto kept = flight_recorders_.keep((*session)->name, request, peer.uid); !kept) {
      (void)engine_.delete_session((*session)->name);
      return kept.error();
    }
  if (request.saved && peer.owner) saved_.facts((*session)->name).account = account_of(peer.uid);
  if (auto saved = saved_.save(); !saved) {
    (void)engine_.delete_session((*session)->name);
    flight_recorders_.forget(*request.name);
    return saved.error();
  }
  if (!(*session)->named) peer.unnamed_sessions.insert((*session)->name);
  return part_of(**session);
}

Status Commands::take_up(const SessionCreate& request, const Peer& peer) {
  if (!request.recorder) return ok();
  return flight_recorders_.keep(*request.name, request, peer.uid);
}

Result<SessionListReply> Commands::handle(const SessionList&, Peer& peer) {
  SessionListReply reply;
  for (const auto& [name, session] : engine_.sessions())
    if (may_use(peer, session)) reply.sessions.push_back(part_of(session));
  return reply;
}

Result<SessionPart> Commands::handle(const SessionShow& request, Peer&) {
  auto session = engine_.sessions().find(request.session);
  if (!session) return session.error();
  return part_of(**session);
}

Result<ProveReply> Commands::handle(const SessionProve& request, Peer& peer) {
  const auto memories = take_proofs(peer, request.proofs);
  if (!memories) return memories.error();
  const auto proven = engine_.proofs().prove(numbers_of(*memories), request.session);
  if (!proven) return proven.error();
  return ProveReply{.needed = proven->needed,
                    .proven = {proven->processes.begin(), proven->processes.end()},
                    .unproven = {proven->unproven.processes, proven->unproven.hits},
                    .wanted = {proven->wanted.begin(), proven->wanted.end()}};
}

// An engine without an event loop, as that of --embedded, checks budgets on request.
Result<BudgetReply> Commands::handle(const SessionBudget& request, Peer&) {
  keep_budgets();
  auto session = engine_.sessions().find(request.session);
  if (!session) return session.error();
  return budget_of(**session);
}

void Commands::keep_budgets() {
  for (const BudgetKept& kept : engine_.budgets().keep()) {
    if (!kept.done)
      log_warning("budget session={}: probes that cost too much stay armed: {}", kept.session,
                  kept.done.error().message);
    for (const LeftOut& one : kept.left_out)
      log_info("budget session={} epoch={} left out {}: {:.0f} hits/s, {:.1f} % of {} %",
               kept.session, engine_.kernel().switching().epoch(), one.load.probe,
               one.load.hits_per_second, one.load.percent, one.budget);
  }
}

Result<SwitchReply> Commands::handle(const SessionDelete& request, Peer& peer) {
  flight_recorders_.begin_dumps_of(request.session);
  auto deleted = engine_.delete_session(request.session);
  if (deleted) {
    peer.unnamed_sessions.erase(request.session);
    peer.subscriptions.erase(request.session);
    end_recording(request.session);
    flight_recorders_.forget(request.session);
  }
  return answer("delete", request.session, peer, deleted);
}

// ---- settings ----

// None if the setting covers no site, or its spec is not possible at the first site it covers.
std::optional<SpecPart> Commands::explained(const Setting& setting, const Access& access) {
  const auto returns = follows_calls(setting) ? std::optional(setting.returns) : std::nullopt;
  const auto found = engine_.list({setting.pattern}, setting.target, access, returns);
  const Site* site = found ? first_site(*found) : nullptr;
  if (!site) return std::nullopt;
  auto part = explain(setting, *site);
  if (!part) return std::nullopt;
  return std::move(*part);
}

// The next daemon needs the files of a saved session.
Status Commands::give_file(const Session& session, Fd file, const std::string& path) {
  if (session.saved)
    if (auto kept = saved_.save_file(file); !kept) return in_field(kept.error(), "files");
  auto given = engine_.give_file(session.name, std::move(file), path);
  if (!given) saved_.forget_strays();
  return given;
}

Result<StageReply> Commands::handle(const StageSet& request, Peer& peer) {
  size_t asked = request.patterns.size();
  if (request.graph) asked += request.graph->only.size() + request.graph->beside.size();
  if (auto within = may_match(asked, peer); !within) return within.error();
  auto settings = settings_of(request);
  if (!settings) return settings.error();
  auto session = engine_.sessions().find(request.session);
  if (!session) return session.error();
  auto given = give_files(peer, request.files, [&](Fd fd, const std::string& path) {
    return give_file(**session, std::move(fd), path);
  });
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

Result<StageReply> Commands::handle(const StageRemove& request, Peer& peer) {
  if (auto within = check_patterns(request.patterns.size(), peer); !within) return within.error();
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

Result<CommitReply> Commands::handle(const StageCommit& request, Peer& peer) {
  return std::move(commit({{&request, &peer}}).front());
}

std::vector<Result<CommitReply>> Commands::commit(const std::vector<CommitRequestOf>& asked) try {
  std::vector<CommitRequest> requests;
  for (const auto& [request, peer] : asked)
    requests.push_back({request->session, {request->partial, request->dry_run}});
  auto done = engine_.commits().commit_together(requests);
  std::vector<Result<CommitReply>> replies;
  // A commit that has to wait for a file is requested again, and logged then.
  const bool any_waits = engine_.reading().awaited().has_value();
  for (size_t i = 0; i < asked.size(); ++i) {
    if (done[i] || !any_waits) log_commit(*asked[i].peer, *asked[i].request, done[i]);
    replies.push_back(done[i] ? Result<CommitReply>(tracectl::part_of(*done[i]))
                              : Result<CommitReply>(done[i].error()));
  }
  save_sessions();
  return replies;
} catch (const std::bad_alloc&) {
  return {asked.size(), Result<CommitReply>(out_of_memory())};
}

Result<GrowReply> Commands::handle(const StageGrow& request, Peer& peer) {
  auto grown = engine_.graph_growth().grow(request.session);
  if (!grown) {
    log_warning("grow session={} uid={} pid={} failed: {}", request.session, peer.uid, peer.pid,
                grown.error().message);
    return grown.error();
  }
  if (!grown->added.empty())
    log_info("grow session={} uid={} pid={} epoch={} added={}", request.session, peer.uid, peer.pid,
             grown->epoch, grown->added.size());
  return GrowReply{grown->epoch, std::move(grown->added), parts_of(grown->refused), grown->unknown};
}

Result<Empty> Commands::handle(const StageAbort& request, Peer&) {
  auto aborted = engine_.drafts().abort(request.session);
  if (!aborted) return aborted.error();
  return Empty{};
}

// ---- pauses ----

Result<SwitchReply> Commands::handle(const SessionPause& request, Peer& peer) {
  return answer("pause", request.session.value_or("*"), peer,
                engine_.gates().pause(request.session, peer.owner));
}

Result<SwitchReply> Commands::handle(const SessionResume& request, Peer& peer) {
  return answer("resume", request.session.value_or("*"), peer,
                engine_.gates().resume(request.session, peer.owner));
}

Result<SwitchReply> Commands::handle(const SessionRestart& request, Peer& peer) {
  return answer("restart", request.session, peer, engine_.counting().restart(request.session));
}

// ---- results ----

Result<ReadReply> Commands::handle(const SessionRead& request, Peer&) {
  auto held = read(request);
  if (!held) return held.error();
  return reply_of(*held);
}

Result<ReadResults> Commands::read(const SessionRead& request) {
  auto summary = engine_.counting().read(request.session, request.clear);
  if (!summary) return summary.error();
  ReadResults results{std::move(*summary), std::nullopt};
  if (const auto session = engine_.sessions().find(request.session); session && (*session)->budget)
    results.left_out = (*session)->budget->left_out;
  return results;
}

Result<FlushReply> Commands::handle(const SessionFlush& request, Peer&) {
  auto flushed = engine_.streams().flush(request.session);
  if (!flushed) return flushed.error();
  return FlushReply{*flushed};
}

Result<Empty> Commands::handle(const SessionSubscribe& request, Peer& peer) {
  if (peer.subscriptions.contains(request.session))
    return Error{Code::busy, "this connection is subscribed to \"" + request.session + "\" already",
                 "session"};
  auto sink = peer.make_sink(request);
  if (!sink) return sink.error();
  auto subscribed = engine_.streams().subscribe(request.session, *sink);
  if (!subscribed) return subscribed.error();
  peer.subscriptions.emplace(request.session, std::move(*sink));
  return Empty{};
}

Result<Empty> Commands::handle(const SessionUnsubscribe& request, Peer& peer) {
  const auto found = peer.subscriptions.find(request.session);
  if (found == peer.subscriptions.end())
    return Error{Code::not_found,
                 "this connection is not subscribed to \"" + request.session + "\"", "session"};
  engine_.streams().unsubscribe(request.session, found->second.get());
  peer.subscriptions.erase(found);
  return Empty{};
}

void Commands::leave(Peer& peer) {
  for (const auto& [session, sink] : peer.subscriptions)
    engine_.streams().unsubscribe(session, sink.get());
  peer.subscriptions.clear();
  for (const std::string& session : peer.unnamed_sessions) {
    // It has been deleted, and a named session has its name since.
    if (const auto there = engine_.sessions().find(session); there && (*there)->named) continue;
    flight_recorders_.begin_dumps_of(session);
    auto deleted = engine_.delete_session(session);
    if (!deleted) log_error("session {} of a peer that left: {}", session, deleted.error().message);
    end_recording(session);
    flight_recorders_.forget(session);
  }
  peer.unnamed_sessions.clear();
}

// ---- the daemon ----

Result<StatusReply> Commands::handle(const DaemonStatus&, Peer&) {
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

Status Commands::check_memory(const Peer& peer) const {
  const size_t most = engine_.options().memory_bytes;
  if (!peer.owner || resident_bytes() < most) return ok();
  return Error{Code::exhausted, "the daemon has the " + std::to_string(most) +
                                    " bytes of memory that it may have: end sessions, or try again "
                                    "later (memory-bytes in tracectld.json)"};
}

Result<StatsReply> Commands::handle(const DaemonStats&, Peer&) {
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
                    .dumps = flight_recorders_.counts().written,
                    .failed_dumps = flight_recorders_.counts().failed,
                    .slots_used = slots.slot_ids.used(),
                    .slots_limit = slots.slot_ids.limit(),
                    .hooks_used = slots.hook_ids.used(),
                    .hooks_limit = slots.hook_ids.limit(),
                    .keys_limit = TC_MAX_KEYS,
                    .rings_open = engine_.streams().rings_open(),
                    .ring_bytes_each = engine_.options().ring_bytes};
}

// The trials of the kernel fork children, which inherit the descriptors of links, so no link may be closed meanwhile.
Result<DoctorReply> Commands::handle(const DaemonDoctor&, Peer&) {
  DoctorReply reply;
  engine_.kernel().long_work().run([&] { reply = examination_.last(); });
  return reply;
}

}  // namespace tracectl
