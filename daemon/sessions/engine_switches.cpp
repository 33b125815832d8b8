// SPDX-License-Identifier: BSD-2-Clause
//
// The engine's switches: commits, pauses, fresh counters, and the end of lingering.
#include <algorithm>
#include <new>
#include <set>

#include "daemon/base/clock.h"
#include "daemon/sessions/engine.h"
#include "daemon/switching/latencies.h"

namespace tracectl {
namespace {

// Names the first few of what was refused, so that the user sees the kind of trouble at once.
Error refusal_error(const std::vector<Refusal>& refused) {
  constexpr size_t kNamed = 5;
  std::string message = std::to_string(refused.size()) +
                        (refused.size() == 1 ? " site" : " sites") + " cannot be armed";
  for (size_t i = 0; i < std::min(kNamed, refused.size()); ++i) {
    message += "\n  " + refused[i].probe;
    if (refused[i].pid) message += " in process " + std::to_string(*refused[i].pid);
    message += ": " + refused[i].reason;
  }
  if (refused.size() > kNamed)
    message += "\n  and " + std::to_string(refused.size() - kNamed) + " more";
  return Error{Code::unsupported, message + "\nnothing was changed; --partial arms the rest",
               "patterns"};
}

bool is_none(const Changes& changes) {
  return changes.added == 0 && changes.updated == 0 && changes.removed == 0;
}

CommitSummary summary_of(const Coverage& coverage, const Changes& changes) {
  CommitSummary summary;
  summary.probes = coverage.probe_count();
  summary.sites = coverage.wants.size();
  summary.added = changes.added;
  summary.updated = changes.updated;
  summary.removed = changes.removed;
  summary.refused = coverage.refused;
  summary.notes = coverage.notes;
  return summary;
}

// Moves the sites that the kernel refused from the wanted to the refused ones; false if there are none, or one
// is not wanted. Probes that learn tags or see callees are not the user's: without them, only tags or callees
// are not seen.
bool leave_out(const std::vector<Staging::RefusedSite>& refused, Coverage& coverage) {
  for (const auto& site : refused) {
    const auto want = coverage.find(site.key);
    if (want == coverage.wants.end()) return false;
    const auto pid = site.key.filter ? std::optional<pid_t>(site.key.filter) : std::nullopt;
    std::set<std::string> probes;
    for (const Want& one : want->wants)
      if (one.setting().spec.learns_tags)
        coverage.notes.push_back(tags_not_seen(one.probe->name + ": " + site.reason));
      else if (one.setting().spec.sees_callees)
        coverage.notes.push_back("callees not seen: " + one.probe->name + ": " + site.reason);
      else
        probes.insert(one.probe->name);
    for (const std::string& probe : probes)
      coverage.refused.push_back({probe, site.key.offset, pid, site.reason});
    coverage.wants.erase(want);
  }
  return !refused.empty();
}

// A switch cannot fail: if memory is short, the next switch forgets the rest.
void let_go_of_all_but(const std::set<uint32_t>& links, Keeper& keeper) {
  try {
    keeper.forget_but(links);
  } catch (const std::bad_alloc&) {}
}

}  // namespace

uint64_t Engine::linger_until() const {
  return options_.linger_ns ? boot_ns() + options_.linger_ns : 0;
}

uint64_t Engine::activate(Switch& change) {
  const uint64_t epoch = change.activate([this] {
    if (keeper_) let_go_of_all_but(kept_links_, *keeper_);
  });
  ++stats_.switches;
  if (options_.linger_ns && !next_linger_end_ns_) next_linger_end_ns_ = slots_.next_linger_end_ns();
  return epoch;
}

// ---- commits ----

Result<Engine::Intent> Engine::intend(const std::string& name, const CommitOptions& options) {
  auto session = find(name);
  if (!session) return session.error();
  auto settings = (*session)->draft.value_or((*session)->settings);
  // Before looking at running processes: programs that are executed later are then reported.
  if (!options.dry_run)
    if (auto heard = hear_of_programs(**session, settings); !heard) return heard.error();
  Intent intent{.session = *session,
                .settings = std::move(settings),
                .coverage = {},
                .options = options,
                .began_ns = boot_ns()};
  if (auto covered = cover_for(intent); !covered) return covered.error();
  return intent;
}

Status Engine::cover_for(Intent& intent) {
  auto coverage = cover_within_budget(*intent.session, intent.settings);
  if (!coverage) return coverage.error();
  intent.coverage = std::move(*coverage);
  return intent.options.dry_run ? ok() : await_libraries(intent);
}

Result<CommitSummary> Engine::commit(const std::string& name, const CommitOptions& options) {
  auto intent = intend(name, options);
  if (intent && options.dry_run) return dry_run(std::move(*intent));
  auto summary =
      intent ? apply_leaving_out(std::move(*intent)) : Result<CommitSummary>(intent.error());
  if (!summary && !reading_->awaited()) ++stats_.failed_commits;
  return summary;
}

// Plans the commit, and undoes the plan. Tables of keys that it needs are made nevertheless, and stay.
Result<CommitSummary> Engine::dry_run(Intent intent) {
  const Coverage& coverage = intent.coverage;
  if (auto within = check_sites({&intent, 1}); !within) return within.error();
  if (!coverage.refused.empty() && !intent.options.partial) return refusal_error(coverage.refused);
  Switch change(*kernel_, slots_, hooks_, linger_until());
  Commit& commit = change.commit_of(*intent.session);
  if (auto named = name_triggers({&intent, 1}); !named) return named.error();
  if (auto planned = commit.plan(coverage, intent.settings); !planned) return planned.error();
  return summary_of(coverage, commit.changes());
}

// With `partial`, sites that only the kernel could refuse are left out, and the rest is tried again. It is
// also tried again if a process ended between the look at it and its arming: if it was one of many, the
// next look finds the others.
Result<CommitSummary> Engine::apply_leaving_out(Intent intent) {
  constexpr int kMostLooks = 10;
  for (int looks = 1;;) {
    Switch change(*kernel_, slots_, hooks_, linger_until());
    auto applied = apply({&intent, 1}, change);
    if (applied) return std::move(applied->front());
    if (leave_out(change.refused(), intent.coverage)) continue;
    if (applied.error().code != Code::not_found || looks++ == kMostLooks) return applied.error();
    if (auto covered = cover_for(intent); !covered) return covered.error();
  }
}

// All or nothing.
Result<std::vector<CommitSummary>> Engine::apply(std::span<Intent> intents, Switch& change) {
  std::vector<Changes> changes;
  if (auto within = check_sites(intents); !within) return within.error();
  if (auto named = name_triggers(intents); !named) return named.error();
  for (Intent& intent : intents) {
    const Coverage& coverage = intent.coverage;
    if (!coverage.refused.empty() && !intent.options.partial)
      return refusal_error(coverage.refused);
    if (auto rings = ensure_rings(*intent.session, coverage); !rings) return rings.error();
    Commit& commit = change.commit_of(*intent.session);
    give_gate(commit, *intent.session, is_triggered(*intent.session, intents));
    if (auto planned = commit.plan(coverage, intent.settings); !planned) return planned.error();
    changes.push_back(commit.changes());
    if (intent.session->saved) intent.kept = std::make_shared<Coverage>();
    intent.followed = followed_files(coverage);
    intent.libraries = followed_libraries(coverage);
  }
  if (intents.size() == 1 && intents[0].options.if_changed && is_none(changes[0])) {
    auto summaries = expected(intents, changes);
    take_awaited(intents[0]);
    watch_what_is_chosen(*intents[0].session);
    return summaries;
  }
  if (auto planned = plan_gates(intents, change); !planned) return planned.error();
  if (auto built = build(change); !built) return built.error();
  auto summaries = expected(intents, changes);
  const uint64_t epoch = activate(change);
  const SwitchFigures figures = change.take_figures();
  for (size_t i = 0; i < intents.size(); ++i) settle(intents[i], epoch, figures, summaries[i]);
  keep_past();
  for (const Intent& intent : intents) watch_what_is_chosen(*intent.session);
  return summaries;
}

std::vector<CommitSummary> Engine::expected(std::span<const Intent> intents,
                                            const std::vector<Changes>& changes) const {
  std::vector<CommitSummary> summaries;
  for (size_t i = 0; i < intents.size(); ++i) {
    CommitSummary& summary = summaries.emplace_back(summary_of(intents[i].coverage, changes[i]));
    summary.figures.first_hits.reserve(kernel_->cpu_count());
  }
  return summaries;
}

void Engine::settle(Intent& intent, uint64_t epoch, const SwitchFigures& figures,
                    CommitSummary& summary) {
  Session& session = *intent.session;
  session.settings = std::move(intent.settings);
  if (intent.kept) *intent.kept = std::move(intent.coverage);
  session.coverage = std::move(intent.kept);
  session.draft.reset();
  take_awaited(intent);
  session.epoch = epoch;
  summary.epoch = epoch;
  summary.figures = figures;
  summary.lingering = slots_.lingering();
  ++stats_.commits;
}

std::vector<Result<CommitSummary>> Engine::commit_together(
    const std::vector<CommitRequest>& requests) {
  std::vector<Result<CommitSummary>> answers;
  answers.reserve(requests.size());
  if (auto together = try_together(requests))
    std::move(together->begin(), together->end(), std::back_inserter(answers));
  else
    for (const CommitRequest& request : requests)
      answers.push_back(commit(request.session, request.options));
  return answers;
}

std::optional<std::vector<CommitSummary>> Engine::try_together(
    const std::vector<CommitRequest>& requests) {
  std::set<std::string_view> sessions;
  std::vector<Intent> intents;
  if (requests.size() < 2) return std::nullopt;
  for (const CommitRequest& request : requests) {
    const bool special = request.options.dry_run || request.options.partial;
    if (special || !sessions.insert(request.session).second) return std::nullopt;
    auto intent = intend(request.session, request.options);
    if (!intent) return std::nullopt;
    intents.push_back(std::move(*intent));
  }
  Switch change(*kernel_, slots_, hooks_, linger_until());
  auto applied = apply(intents, change);
  if (!applied) return std::nullopt;
  return std::move(*applied);
}

// ---- pauses ----

Result<std::vector<Session*>> Engine::chosen(const std::optional<std::string>& name,
                                             const std::optional<Owner>& of) {
  std::vector<Session*> sessions;
  if (!name) {
    for (auto& [each, session] : sessions_)
      if (!of || session.access.owner == of) sessions.push_back(&session);
    return sessions;
  }
  auto session = find(*name);
  if (!session) return session.error();
  return std::vector<Session*>{*session};
}

Result<SwitchSummary> Engine::pause(const std::optional<std::string>& session,
                                    const std::optional<Owner>& of) {
  return set_paused(session, of, true);
}

Result<SwitchSummary> Engine::resume(const std::optional<std::string>& session,
                                     const std::optional<Owner>& of) {
  return set_paused(session, of, false);
}

Result<SwitchSummary> Engine::set_paused(const std::optional<std::string>& name,
                                         const std::optional<Owner>& of, bool paused) {
  auto sessions = chosen(name, of);
  if (!sessions) return sessions.error();
  std::erase_if(*sessions, [&](const Session* session) { return is_paused(*session) == paused; });
  SwitchSummary summary{.epoch = epoch(), .sessions = sessions->size(), .sites = 0, .figures = {}};
  if (sessions->empty()) return summary;
  Switch change(*kernel_, slots_, hooks_, linger_until());
  for (Session* session : *sessions) {
    summary.sites += session->hooks.size();
    if (session->gated) continue;
    if (auto planned = change.commit_of(*session).plan_pause(paused); !planned)
      return planned.error();
  }
  if (auto built = build(change); !built) return built.error();
  for (const Session* session : *sessions)
    if (session->gated) kernel_->set_gate(session->id, !paused);
  summary.epoch = activate(change);
  summary.figures = change.take_figures();
  return summary;
}

// ---- fresh counters ----

Result<SwitchSummary> Engine::restart(const std::string& name) {
  auto session = find(name);
  if (!session) return session.error();
  Switch change(*kernel_, slots_, hooks_, linger_until());
  if (auto planned = change.commit_of(**session).plan_fresh_counters(false); !planned)
    return planned.error();
  if (auto built = build(change); !built) return built.error();
  kernel_->set_gate((*session)->id, true);
  if ((*session)->marks) kernel_->begin_marks((*session)->id);
  const uint64_t epoch = activate(change);
  (*session)->past = {.latencies = carried_over((*session)->past.latencies)};
  keep_past();
  return SwitchSummary{epoch, 1, (*session)->hooks.size(), change.take_figures()};
}

// Counts from before the switch are in the answer, those from after it in the next answer.
Result<ReadSummary> Engine::read_and_clear(Session& session) {
  Switch change(*kernel_, slots_, hooks_, linger_until());
  if (auto planned = change.commit_of(session).plan_fresh_counters(session.paused); !planned)
    return planned.error();
  if (auto built = build(change); !built) return built.error();
  const uint64_t epoch = activate(change);
  Results next{.latencies = carried_over(session.past.latencies)};
  ReadSummary read{std::exchange(session.past, std::move(next)), epoch, change.take_figures()};
  keep_past();
  return read;
}

// ---- lingering ----

// If it fails, it is tried again after the same time.
Status Engine::end_lingering() {
  const uint64_t now = boot_ns();
  Switch change(*kernel_, slots_, hooks_, 0);
  bool any = false;
  for (const auto& [id, slot] : slots_.by_id) {
    if (!slot.lingers_until_ns || slot.lingers_until_ns > now) continue;
    change.end_lingering(id);
    any = true;
  }
  if (!any) {  // a session wants it again
    next_linger_end_ns_ = slots_.next_linger_end_ns();
    return ok();
  }
  if (auto built = build(change); !built) {
    next_linger_end_ns_ = now + options_.linger_ns;
    return built;
  }
  activate(change);
  next_linger_end_ns_ = slots_.next_linger_end_ns();
  return ok();
}

}  // namespace tracectl
