// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/control/session_commands.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "daemon/base/sent_fds.h"
#include "daemon/control/accounts.h"
#include "daemon/control/log.h"
#include "daemon/control/parts.h"
#include "daemon/model/spec.h"

namespace tracectl {
namespace {

using namespace protocol;

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

}  // namespace

SessionPart SessionCommands::part_of(const Session& session) const {
  SessionPart part;
  part.name = session.name;
  part.named = session.named;
  if (session.access.owner) part.user = session.access.owner->uid;
  part.saved = session.saved;
  part.paused = engine_.gates().is_paused(session);
  part.triggered_by = engine_.gates().triggered_by(session);
  for (const Setting& setting : session.settings)
    part.settings.push_back(tracectl::part_of(setting));
  part.streams = std::ranges::any_of(
      session.settings, [](const Setting& setting) { return has_events(setting.spec); });
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

Status SessionCommands::check_saved(const SessionCreate& request) const {
  if (!request.saved) return ok();
  if (!request.name) return Error{Code::invalid, "a session that is saved has a name", "saved"};
  if (saved_.can_save()) return ok();
  return Error{Code::unsupported,
               "this daemon cannot save a session for the next one: only a daemon that systemd has "
               "started can",
               "saved"};
}

Result<SessionPart> SessionCommands::handle(const SessionCreate& request, Peer& peer) {
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

Status SessionCommands::take_up(const SessionCreate& request, const Peer& peer) {
  if (!request.recorder) return ok();
  return flight_recorders_.keep(*request.name, request, peer.uid);
}

Result<SessionListReply> SessionCommands::handle(const SessionList&, Peer& peer) {
  SessionListReply reply;
  for (const auto& [name, session] : engine_.sessions())
    if (may_use(peer, session)) reply.sessions.push_back(part_of(session));
  return reply;
}

Result<SessionPart> SessionCommands::handle(const SessionShow& request, Peer&) {
  auto session = engine_.sessions().find(request.session);
  if (!session) return session.error();
  return part_of(**session);
}

Result<ProveReply> SessionCommands::handle(const SessionProve& request, Peer& peer) {
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
Result<BudgetReply> SessionCommands::handle(const SessionBudget& request, Peer&) {
  keep_budgets();
  auto session = engine_.sessions().find(request.session);
  if (!session) return session.error();
  return budget_of(**session);
}

void SessionCommands::keep_budgets() {
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

Result<SwitchReply> SessionCommands::handle(const SessionDelete& request, Peer& peer) {
  flight_recorders_.begin_dumps_of(request.session);
  auto deleted = engine_.delete_session(request.session);
  if (deleted) {
    peer.unnamed_sessions.erase(request.session);
    peer.take_rest();
    peer.subscriptions.erase(request.session);
    recordings_.end(request.session);
    flight_recorders_.forget(request.session);
  }
  return answer("delete", request.session, peer, deleted);
}

void SessionCommands::leave(Peer& peer) {
  for (const auto& [session, sink] : peer.subscriptions)
    engine_.streams().unsubscribe(session, sink.get());
  peer.subscriptions.clear();
  for (const std::string& session : peer.unnamed_sessions) {
    // It has been deleted, and a named session has its name since.
    if (const auto there = engine_.sessions().find(session); there && (*there)->named) continue;
    flight_recorders_.begin_dumps_of(session);
    auto deleted = engine_.delete_session(session);
    if (!deleted) log_error("session {} of a peer that left: {}", session, deleted.error().message);
    recordings_.end(session);
    flight_recorders_.forget(session);
  }
  peer.unnamed_sessions.clear();
}

// ---- pauses ----

Result<SwitchReply> SessionCommands::handle(const SessionPause& request, Peer& peer) {
  return answer("pause", request.session.value_or("*"), peer,
                engine_.gates().pause(request.session, peer.owner));
}

Result<SwitchReply> SessionCommands::handle(const SessionResume& request, Peer& peer) {
  return answer("resume", request.session.value_or("*"), peer,
                engine_.gates().resume(request.session, peer.owner));
}

Result<SwitchReply> SessionCommands::handle(const SessionRestart& request, Peer& peer) {
  return answer("restart", request.session, peer, engine_.counting().restart(request.session));
}

}  // namespace tracectl
