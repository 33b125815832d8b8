// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/sessions/commits.h"

#include <algorithm>
#include <new>
#include <set>

#include "daemon/base/clock.h"

namespace tracectl {
namespace {

// Names the first few of what was refused, so that the user sees the kind of trouble at once. `how`: to arm the rest.
Error refusal_error(const std::vector<Refusal>& refused, const char* how) {
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
  return Error{Code::unsupported, message + "\nnothing was changed; " + how + " arms the rest",
               "patterns"};
}

Status check_refused(const Coverage& coverage, const CommitOptions& options) {
  const auto failing = options.strict    ? coverage.refused_and_left_out()
                       : options.partial ? std::vector<Refusal>{}
                                         : coverage.refused;
  if (failing.empty()) return ok();
  return refusal_error(failing, options.strict ? "leaving out --strict" : "--partial");
}

bool is_none(const Changes& changes) {
  return changes.added == 0 && changes.updated == 0 && changes.removed == 0;
}

// Whoever follows calls waits for the measurement anyway, and a budget is kept by what hits take.
HitCosts hit_costs_for(const Intent& intent, const Coverage& coverage,
                       const Commits::Parts& parts) {
  const bool measures =
      !intent.options.by_engine && (intent.session->budget || follows_calls(coverage));
  return HitCosts::measured(measures ? parts.hit_costs() : parts.known_hit_costs());
}

CommitSummary summary_of(const Intent& intent, const Coverage& coverage, const Changes& changes,
                         const Commits::Parts& parts) {
  CommitSummary summary;
  summary.probes = coverage.probe_count();
  summary.sites = coverage.wants.size();
  summary.added = changes.added;
  summary.updated = changes.updated;
  summary.removed = changes.removed;
  summary.cost = arming_cost(changes, parts.one_by_one);
  summary.hits = estimate_hits(coverage, hit_costs_for(intent, coverage, parts));
  summary.refused = coverage.refused_and_left_out();
  summary.notes = coverage.notes;
  return summary;
}

// A probe of a site that the kernel refused, and the settings that lose it.
struct LostProbe {
  Refusal refusal;
  std::set<size_t> settings;
  bool by_glob = false;
};

std::set<size_t> settings_with_sites(const Coverage& coverage) {
  std::set<size_t> settings;
  for (const SlotWants& at_slot : coverage.wants)
    for (const Want& want : at_slot.wants)
      if (want.part->what == Beside::nothing) settings.insert(want.part->of);
  return settings;
}

// Moves the sites that the kernel refused from the wanted to the refused ones; false if there are none, or one
// is not wanted. Probes that learn tags or see callees are not the user's: without them, only tags or callees
// are not seen.
bool leave_out(const std::vector<Staging::RefusedSite>& refused, Coverage& coverage) {
  std::vector<LostProbe> lost;
  for (const auto& site : refused) {
    const auto want = coverage.find(site.key);
    if (want == coverage.wants.end()) return false;
    const auto pid = site.key.filter ? std::optional<pid_t>(site.key.filter) : std::nullopt;
    std::set<std::string> probes;
    std::set<size_t> settings;
    bool by_glob = true;
    for (const Want& one : want->wants) {
      if (one.setting().spec.learns_tags)
        coverage.notes.push_back(tags_not_seen(one.probe->name + ": " + site.reason));
      else if (one.setting().spec.sees_callees)
        coverage.notes.push_back("callees not seen: " + one.probe->name + ": " + site.reason);
      else {
        probes.insert(one.probe->name);
        settings.insert(one.part->of);
        by_glob &= names_by_glob(one.setting().pattern);
      }
    }
    coverage.wants.erase(want);
    for (const std::string& probe : probes)
      lost.push_back({{probe, site.key.offset, pid, site.reason}, settings, by_glob});
  }
  const auto armed = settings_with_sites(coverage);
  for (LostProbe& one : lost) {
    const bool is_choice = one.by_glob && std::ranges::includes(armed, one.settings);
    (is_choice ? coverage.left_out : coverage.refused).push_back(std::move(one.refusal));
  }
  return !refused.empty();
}

}  // namespace

Result<Intent> Commits::intend(const std::string& name, const CommitOptions& options) {
  auto session = parts_.sessions.find(name);
  if (!session) return session.error();
  auto settings = (*session)->draft.value_or((*session)->settings);
  // Before looking at running processes: programs that are executed later are then reported.
  if (!options.dry_run)
    if (auto listening = parts_.awaiting.listen(**session, settings); !listening)
      return listening.error();
  Intent intent{.session = *session,
                .settings = std::move(settings),
                .coverage = {},
                .options = options,
                .began_ns = boot_ns()};
  if (auto covered = cover_for(intent); !covered) return covered.error();
  return intent;
}

Status Commits::cover_for(Intent& intent) {
  auto coverage = parts_.budgets.cover(*intent.session, intent.settings);
  if (!coverage) return coverage.error();
  intent.coverage = std::move(*coverage);
  return intent.options.dry_run ? ok() : parts_.awaiting.arm_linkers(intent);
}

Result<CommitSummary> Commits::commit(const std::string& name, const CommitOptions& options) {
  auto intent = intend(name, options);
  if (intent && options.dry_run) return dry_run(std::move(*intent));
  auto summary =
      intent ? apply_leaving_out(std::move(*intent)) : Result<CommitSummary>(intent.error());
  if (!summary && !parts_.resolver.reading().awaited()) note_failed(name);
  return summary;
}

// Gives back the sets that were taken for settings that are not in force.
void Commits::note_failed(const std::string& name) {
  parts_.switches.count_failed_commit();
  if (auto session = parts_.sessions.find(name)) parts_.awaiting.watch_what_is_chosen(**session);
}

// Plans the commit, and undoes the plan. Tables of keys that it needs are made nevertheless, and stay.
Result<CommitSummary> Commits::dry_run(Intent intent) {
  const Coverage& coverage = intent.coverage;
  if (auto within = parts_.quotas.check_sites({&intent, 1}); !within) return within.error();
  if (auto well = check_refused(coverage, intent.options); !well) return well.error();
  Switch change = parts_.switches.begin();
  Commit& commit = change.commit_of(*intent.session);
  if (auto noted = parts_.gates.note_triggers({&intent, 1}); !noted) return noted.error();
  if (auto planned = commit.plan(coverage, intent.settings); !planned) return planned.error();
  return summary_of(intent, coverage, commit.changes(), parts_);
}

// Sites that only the kernel could refuse are left out, and the rest is tried again, unless one of them fails the commit.
// It is also tried again if a process ended between the look at it and its arming: if it was one of many, the
// next look finds the others.
Result<CommitSummary> Commits::apply_leaving_out(Intent intent) {
  constexpr int kMostLooks = 10;
  for (int looks = 1;;) {
    Switch change = parts_.switches.begin();
    auto applied = apply({&intent, 1}, change);
    if (applied) return std::move(applied->front());
    if (leave_out(change.refused(), intent.coverage)) continue;
    if (applied.error().code != Code::not_found || looks++ == kMostLooks) return applied.error();
    if (auto covered = cover_for(intent); !covered) return covered.error();
  }
}

Result<Changes> Commits::plan(Intent& intent, std::span<const Intent> all, Switch& change) {
  const Coverage& coverage = intent.coverage;
  if (auto well = check_refused(coverage, intent.options); !well) return well.error();
  if (coverage.needs_rings())
    if (auto rings = parts_.streams.open(*intent.session); !rings) return rings.error();
  Commit& commit = change.commit_of(*intent.session);
  parts_.gates.give_gate(commit, *intent.session, all);
  if (auto planned = commit.plan(coverage, intent.settings); !planned) return planned.error();
  const auto few = check_added(commit.changes(), intent.options.most_added, parts_.one_by_one);
  if (!few) return few.error();
  if (intent.session->saved) intent.saved = std::make_shared<Coverage>();
  intent.followed = followed_files(coverage);
  intent.libraries = followed_libraries(coverage);
  return commit.changes();
}

// All or nothing.
Result<std::vector<CommitSummary>> Commits::apply(std::span<Intent> intents, Switch& change) {
  std::vector<Changes> changes;
  if (auto within = parts_.quotas.check_sites(intents); !within) return within.error();
  if (auto noted = parts_.gates.note_triggers(intents); !noted) return noted.error();
  for (Intent& intent : intents) {
    auto planned = plan(intent, intents, change);
    if (!planned) return planned.error();
    changes.push_back(*planned);
  }
  if (intents.size() == 1 && intents[0].options.if_changed && is_none(changes[0])) {
    auto summaries = expected(intents, changes);
    parts_.awaiting.settle(intents[0]);
    parts_.awaiting.watch_what_is_chosen(*intents[0].session);
    return summaries;
  }
  if (auto planned = parts_.gates.plan_others(intents, change); !planned) return planned.error();
  if (auto built = parts_.switches.build(change); !built) return built.error();
  auto summaries = expected(intents, changes);
  const uint64_t epoch = parts_.switches.activate(change);
  const SwitchFigures figures = change.take_figures();
  for (size_t i = 0; i < intents.size(); ++i) settle(intents[i], epoch, figures, summaries[i]);
  parts_.saving.save_past();
  for (const Intent& intent : intents) parts_.awaiting.watch_what_is_chosen(*intent.session);
  return summaries;
}

// Makes the answers before the switch, because after it no memory may be needed. settle() adds the values that are
// known only then.
std::vector<CommitSummary> Commits::expected(std::span<const Intent> intents,
                                             const std::vector<Changes>& changes) const {
  std::vector<CommitSummary> summaries;
  for (size_t i = 0; i < intents.size(); ++i) {
    CommitSummary& summary =
        summaries.emplace_back(summary_of(intents[i], intents[i].coverage, changes[i], parts_));
    summary.figures.first_hits.reserve(parts_.cpu_count);
  }
  return summaries;
}

void Commits::settle(Intent& intent, uint64_t epoch, const SwitchFigures& figures,
                     CommitSummary& summary) {
  Session& session = *intent.session;
  session.settings = std::move(intent.settings);
  if (intent.saved) *intent.saved = std::move(intent.coverage);
  session.coverage = std::move(intent.saved);
  session.draft.reset();
  parts_.awaiting.settle(intent);
  session.epoch = epoch;
  summary.epoch = epoch;
  summary.figures = figures;
  summary.lingering = parts_.slots.lingering();
  parts_.switches.count_commit();
}

std::vector<Result<CommitSummary>> Commits::commit_together(
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

std::optional<std::vector<CommitSummary>> Commits::try_together(
    const std::vector<CommitRequest>& requests) {
  std::set<std::string_view> sessions;
  std::vector<Intent> intents;
  if (requests.size() < 2) return std::nullopt;
  for (const CommitRequest& request : requests) {
    const bool special =
        request.options.dry_run || request.options.partial || request.options.strict;
    if (special || !sessions.insert(request.session).second) return std::nullopt;
    auto intent = intend(request.session, request.options);
    if (!intent) return std::nullopt;
    intents.push_back(std::move(*intent));
  }
  Switch change = parts_.switches.begin();
  auto applied = apply(intents, change);
  if (!applied) return std::nullopt;
  return std::move(*applied);
}

Result<CommitSummary> Commits::commit_settings(Session& session, std::vector<Setting> settings,
                                               bool if_changed) {
  session.draft = std::move(settings);
  session.access.is_in_force = if_changed;
  try {
    auto committed =
        commit(session.name, {.partial = true, .if_changed = if_changed, .by_engine = true});
    session.draft.reset();
    session.access.is_in_force = false;
    return committed;
  } catch (const std::bad_alloc&) {
    session.draft.reset();
    session.access.is_in_force = false;
    throw;
  }
}

Result<CommitSummary> Commits::empty(Session& session) {
  return apply_leaving_out({.session = &session, .settings = {}, .coverage = {}, .options = {}});
}

}  // namespace tracectl
