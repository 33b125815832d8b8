// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/trace/engine.h"

#include <algorithm>
#include <set>

namespace tracectl {

namespace {

constexpr size_t kLongestName = 64;

bool is_session_name(const std::string& name) {
  return !name.empty() && name.size() <= kLongestName &&
         std::all_of(name.begin(), name.end(), [](unsigned char c) {
           return std::isalnum(c) || c == '-' || c == '_' || c == '.';
         });
}

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

size_t probe_count(const Session& session) {
  std::set<std::string_view> names;
  for (const auto& [slot, hooks] : session.hooks)
    for (const SessionHook& held : hooks) names.insert(*held.probe);
  return names.size();
}

CommitSummary summary_of(const Coverage& coverage, const Changes& changes) {
  CommitSummary summary;
  summary.added = changes.added;
  summary.updated = changes.updated;
  summary.removed = changes.removed;
  summary.refused = coverage.refused;
  summary.notes = coverage.notes;
  return summary;
}

// Moves what the kernel refused from what is wanted to what is refused; false if that is not why.
bool leave_out(const std::vector<Staging::RefusedSite>& refused, Coverage& coverage) {
  for (const auto& site : refused) {
    const auto want = coverage.wants.find(site.key);
    if (want == coverage.wants.end()) return false;
    const auto pid = site.key.filter ? std::optional<pid_t>(site.key.filter) : std::nullopt;
    std::set<std::string> probes;
    for (const Want& one : want->second) probes.insert(*one.probe);
    for (const std::string& probe : probes)
      coverage.refused.push_back({probe, site.key.offset, pid, site.reason});
    coverage.wants.erase(want);
  }
  return !refused.empty();
}

}  // namespace

Result<std::unique_ptr<Engine>> Engine::start(std::unique_ptr<Kernel> kernel,
                                              const EngineOptions& options) {
  auto reader = EventReader::start(*kernel);
  if (!reader) return reader.error();
  return std::unique_ptr<Engine>{new Engine(std::move(kernel), std::move(*reader), options)};
}

Engine::Engine(std::unique_ptr<Kernel> kernel, std::unique_ptr<EventReader> reader,
               const EngineOptions& options)
    : options_(options),
      kernel_(std::move(kernel)),
      reader_(std::move(reader)),
      slots_(*kernel_),
      hooks_(*kernel_, slots_, *reader_) {}

Engine::~Engine() = default;

// ---- looking ----

Result<Resolution> Engine::list(const std::vector<Pattern>& patterns, const Target& target) {
  Resolution all;
  for (const Pattern& pattern : patterns) {
    auto one = resolver_.resolve(pattern, target);
    if (!one) return one.error();
    std::move(one->parts.begin(), one->parts.end(), std::back_inserter(all.parts));
    std::move(one->refused.begin(), one->refused.end(), std::back_inserter(all.refused));
    std::move(one->notes.begin(), one->notes.end(), std::back_inserter(all.notes));
  }
  if (sessions_.empty()) resolver_.forget_files();
  return all;
}

std::vector<ProbeSettingInfo> Engine::info(const Pattern& pattern) const {
  std::vector<ProbeSettingInfo> found;
  for (const auto& [name, session] : sessions_) {
    std::map<std::pair<std::string, const Setting*>, ProbeSettingInfo> by_probe;
    for (const auto& [slot, hooks] : session.hooks)
      for (const SessionHook& held : hooks) {
        if (!names_probe(pattern, *held.probe)) continue;
        auto& info = by_probe[{*held.probe, held.setting.get()}];
        info.probe = *held.probe;
        info.session = name;
        info.setting = *held.setting;
        info.epoch = std::max(info.epoch, held.epoch);
        info.hits += kernel_->read_stat(held.hook.stat).hits;
        ++info.sites;
      }
    for (auto& [key, info] : by_probe) found.push_back(std::move(info));
  }
  return found;
}

// ---- sessions ----

Result<Session*> Engine::find(const std::string& name) {
  const auto found = sessions_.find(name);
  if (found == sessions_.end())
    return Error{Code::not_found, "there is no session \"" + name + "\"", "session"};
  return &found->second;
}

Result<const Session*> Engine::session(const std::string& name) const {
  auto found = const_cast<Engine*>(this)->find(name);
  if (!found) return found.error();
  return const_cast<const Session*>(*found);
}

std::vector<const Session*> Engine::sessions() const {
  std::vector<const Session*> all;
  for (const auto& [name, session] : sessions_) all.push_back(&session);
  return all;
}

Result<const Session*> Engine::create_session(const std::string& wanted) {
  const bool named = !wanted.empty();
  if (named && !is_session_name(wanted))
    return Error{Code::invalid, "a session's name has 1 to 64 letters, digits, '-', '_' and '.'",
                 "name"};
  std::string name = wanted;
  while (name.empty() || (!named && sessions_.contains(name)))
    name = "trace-" + std::to_string(++unnamed_made_);
  if (sessions_.contains(name))
    return Error{Code::busy, "there is a session \"" + name + "\" already", "name"};
  const auto id = session_ids_.take();
  if (!id)
    return Error{Code::exhausted,
                 "there are " + std::to_string(int{TC_MAX_SESSIONS}) + " sessions, no more fit"};
  Session& session = sessions_[name];
  session.id = static_cast<SessionId>(*id);
  session.name = name;
  session.named = named;
  return const_cast<const Session*>(&session);
}

Status Engine::delete_session(const std::string& name) {
  auto session = find(name);
  if (!session) return session.error();
  auto emptied = apply(**session, {}, Coverage{}, CommitOptions{});
  if (!emptied) return emptied.error();
  if ((*session)->has_rings) {
    reader_->close((*session)->id);
    kernel_->close_rings((*session)->id);
  }
  session_ids_.give_back((*session)->id);
  sessions_.erase(name);
  if (sessions_.empty()) resolver_.forget_files();
  return ok();
}

// ---- drafts ----

Result<StageSummary> Engine::stage_set(const std::string& name, std::vector<Setting> settings) {
  auto session = find(name);
  if (!session) return session.error();
  for (Setting& setting : settings)
    if (auto noted = note_processes(setting.target); !noted) return noted.error();
  auto covered = cover(resolver_, settings);
  if (!covered) return covered.error();
  auto draft = (*session)->draft.value_or((*session)->settings);
  for (const Setting& setting : settings) {
    // A spec is replaced whole, and the last staged holds: so it goes to the end.
    std::erase_if(draft, [&](const Setting& old) {
      return old.pattern == setting.pattern && old.target == setting.target;
    });
    draft.push_back(setting);
  }
  StageSummary summary{.settings = draft.size(),
                       .probes = covered->probe_count(),
                       .sites = covered->wants.size(),
                       .refused = std::move(covered->refused),
                       .notes = std::move(covered->notes)};
  (*session)->draft = std::move(draft);
  return summary;
}

Result<StageSummary> Engine::stage_remove(const std::string& name,
                                          const std::vector<Pattern>& patterns,
                                          const std::optional<Target>& target) {
  auto session = find(name);
  if (!session) return session.error();
  auto draft = (*session)->draft.value_or((*session)->settings);
  for (const Pattern& pattern : patterns) {
    const size_t removed = std::erase_if(draft, [&](const Setting& setting) {
      return setting.pattern == pattern && (!target || setting.target == *target);
    });
    if (removed == 0)
      return Error{Code::not_found,
                   "the draft of \"" + name + "\" has no setting " + to_string(pattern) +
                       (target ? " with this target" : "") + "; tracectl session show " + name +
                       " lists them",
                   "patterns"};
  }
  StageSummary summary;
  summary.settings = draft.size();
  (*session)->draft = std::move(draft);
  return summary;
}

Status Engine::stage_abort(const std::string& name) {
  auto session = find(name);
  if (!session) return session.error();
  (*session)->draft.reset();
  return ok();
}

// ---- commits ----

Result<CommitSummary> Engine::commit(const std::string& name, const CommitOptions& options) {
  auto session = find(name);
  if (!session) return session.error();
  const auto settings = (*session)->draft.value_or((*session)->settings);
  auto coverage = cover(resolver_, settings);
  if (coverage && options.dry_run) return dry_run(**session, *coverage, options);
  auto summary = coverage ? apply(**session, settings, std::move(*coverage), options)
                          : Result<CommitSummary>(coverage.error());
  if (summary)
    (*session)->draft.reset();
  else
    ++stats_.failed_commits;
  return summary;
}

Result<CommitSummary> Engine::dry_run(const Session& session, const Coverage& coverage,
                                      const CommitOptions& options) const {
  if (!coverage.refused.empty() && !options.partial) return refusal_error(coverage.refused);
  CommitSummary summary = summary_of(coverage, compare(slots_, session, coverage));
  summary.probes = coverage.probe_count();
  summary.sites = coverage.wants.size();
  return summary;
}

// With `partial` a site that only the kernel could refuse is left out, and the rest tried again.
Result<CommitSummary> Engine::apply(Session& session, const std::vector<Setting>& settings,
                                    Coverage coverage, const CommitOptions& options) {
  if (auto rings = ensure_rings(session, coverage); !rings) return rings.error();
  for (;;) {
    if (!coverage.refused.empty() && !options.partial) return refusal_error(coverage.refused);
    CommitSummary summary = summary_of(coverage, compare(slots_, session, coverage));
    Commit commit(*kernel_, slots_, hooks_, session);
    if (auto planned = commit.plan(coverage); !planned) return planned.error();
    if (auto built = commit.build(); !built) {
      if (!leave_out(commit.refused(), coverage)) return built.error();
      continue;
    }
    summary.epoch = commit.activate();
    summary.phases = commit.phases();
    summary.probes = probe_count(session);
    summary.sites = session.hooks.size();
    session.settings = settings;
    session.epoch = summary.epoch;
    count_commit();
    return summary;
  }
}

void Engine::count_commit() {
  ++stats_.commits;
  ++stats_.waits;
}

Status Engine::ensure_rings(Session& session, const Coverage& coverage) {
  return coverage.any_event() ? open_rings(session) : ok();
}

Status Engine::open_rings(Session& session) {
  if (session.has_rings) return ok();
  auto rings = kernel_->open_rings(session.id, options_.ring_bytes);
  if (!rings) return rings.error();
  if (auto opened = reader_->open(session.id, std::move(*rings)); !opened) {
    kernel_->close_rings(session.id);
    return opened;
  }
  session.has_rings = true;
  return ok();
}

// ---- results ----

Result<Results> Engine::read(const std::string& name, bool clear) {
  auto session = find(name);
  if (!session) return session.error();
  return clear ? read_and_clear(**session) : current_results(*kernel_, **session);
}

// What was counted before the switch is in the answer, what comes after it in the next.
Result<Results> Engine::read_and_clear(Session& session) {
  Commit commit(*kernel_, slots_, hooks_, session);
  if (auto planned = commit.plan_fresh_counters(); !planned) return planned.error();
  if (auto built = commit.build(); !built) return built.error();
  commit.activate();
  count_commit();
  return std::exchange(session.past, {});
}

Totals Engine::totals(const Session& session) const { return current_totals(*kernel_, session); }

Result<uint64_t> Engine::flush(const std::string& name) {
  auto session = find(name);
  if (!session) return session.error();
  return reader_->flush((*session)->id);
}

Status Engine::subscribe(const std::string& name, std::shared_ptr<EventSink> sink) {
  auto session = find(name);
  if (!session) return session.error();
  // A subscriber may be there before the first event setting.
  if (auto rings = open_rings(**session); !rings) return rings;
  reader_->subscribe((*session)->id, std::move(sink));
  return ok();
}

void Engine::unsubscribe(const std::string& name, const EventSink* sink) {
  if (auto session = find(name)) reader_->unsubscribe((*session)->id, sink);
}

size_t Engine::rings_open() const {
  size_t sessions = 0;
  for (const auto& [name, session] : sessions_) sessions += session.has_rings;
  return sessions * kernel_->cpu_count();
}

}  // namespace tracectl
