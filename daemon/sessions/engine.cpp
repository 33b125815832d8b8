// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/sessions/engine.h"

#include <algorithm>
#include <set>

#include "daemon/object/own_reading.h"
#include "daemon/sessions/table_shares.h"

namespace tracectl {

namespace {

constexpr size_t kLongestName = 64;

bool is_session_name(const std::string& name) {
  return !name.empty() && name.size() <= kLongestName &&
         std::all_of(name.begin(), name.end(), [](unsigned char c) {
           return std::isalnum(c) || c == '-' || c == '_' || c == '.';
         });
}

Status check_budget(std::optional<double> percent, unsigned cpus) {
  const double most = 100.0 * cpus;
  if (!percent || (*percent > 0 && *percent <= most)) return ok();
  return Error{Code::invalid,
               "a budget is in percent of one CPU: more than 0, and at most " +
                   std::to_string(100 * cpus) + " as there are " + std::to_string(cpus) + " CPUs",
               "budget"};
}

}  // namespace

Result<std::unique_ptr<Engine>> Engine::start(std::unique_ptr<Kernel> kernel,
                                              const EngineOptions& options,
                                              std::unique_ptr<Reading> reading,
                                              DescriptorStore* store) {
  if (!reading) reading = std::make_unique<OwnReading>();
  auto for_stacks = reading->for_stacks();
  if (!for_stacks) return for_stacks.error();
  auto symbolizer = std::make_unique<Symbolizer>(std::move(*for_stacks));
  auto reader = EventReader::start(*kernel, *symbolizer);
  if (!reader) return reader.error();
  std::unique_ptr<Engine> engine{new Engine(std::move(kernel), std::move(symbolizer),
                                            std::move(*reader), std::move(reading), options)};
  if (store) engine->adopt(*store);
  engine->share_out();
  return engine;
}

Engine::Engine(std::unique_ptr<Kernel> kernel, std::unique_ptr<Symbolizer> symbolizer,
               std::unique_ptr<EventReader> reader, std::unique_ptr<Reading> reading,
               const EngineOptions& options)
    : options_(options),
      kernel_(std::move(kernel)),
      symbolizer_(std::move(symbolizer)),
      reader_(std::move(reader)),
      reading_(std::move(reading)),
      resolver_(*reading_, options.quota.matches),
      slots_(*kernel_),
      hooks_(*kernel_, slots_, *reader_, *symbolizer_, options.for_one_command),
      linkers_(*kernel_) {}

Engine::~Engine() {
  if (keeper_) hooks_.leave_all();
}

// ---- queries ----

Result<Resolution> Engine::list(const std::vector<Pattern>& patterns, const Target& target,
                                const Access& access, std::optional<Returns> returns) {
  resolver_.begin_count();
  Resolution all;
  for (const Pattern& pattern : patterns) {
    auto one = resolver_.resolve(pattern, target, access, returns);
    if (!one) return one.error();
    std::move(one->parts.begin(), one->parts.end(), std::back_inserter(all.parts));
    std::move(one->refused.begin(), one->refused.end(), std::back_inserter(all.refused));
    std::move(one->notes.begin(), one->notes.end(), std::back_inserter(all.notes));
  }
  if (sessions_.empty()) resolver_.forget_files();
  show_kept_breakpoints(all);
  return all;
}

// A 5-byte nop that does not become a call costs as much as other emulated instructions.
void Engine::show_kept_breakpoints(Resolution& resolution) const {
  const auto is_kept = [&](const Site& site) {
    return site.cost == CostClass::fast && !kernel_->nop5_becomes_call();
  };
  const auto has_kept = [&](const Probe& probe) {
    return std::any_of(probe.sites.begin(), probe.sites.end(), is_kept);
  };
  for (Resolved& part : resolution.parts) {
    if (std::none_of(part.probes->begin(), part.probes->end(), has_kept)) continue;
    auto probes = std::make_shared<std::vector<Probe>>(*part.probes);
    for (Probe& probe : *probes)
      for (Site& site : probe.sites)
        if (is_kept(site)) site.cost = CostClass::normal;
    part.probes = std::move(probes);
  }
}

std::vector<ProbeSettingInfo> Engine::info(
    const Pattern& pattern, const std::function<bool(const std::string& session)>& of) const {
  std::vector<ProbeSettingInfo> found;
  for (const auto& [name, session] : sessions_) {
    if (!of(name)) continue;
    auto part = info_of(*kernel_, slots_, session, pattern);
    std::move(part.begin(), part.end(), std::back_inserter(found));
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

Result<const Session*> Engine::create_session(const std::string& wanted,
                                              std::optional<double> budget,
                                              const std::optional<Owner>& owner, bool saved) {
  const bool named = !wanted.empty();
  if (named && !is_session_name(wanted))
    return Error{Code::invalid, "a session's name has 1 to 64 letters, digits, '-', '_' and '.'",
                 "name"};
  if (auto possible = check_budget(budget, kernel_->cpu_count()); !possible)
    return possible.error();
  std::string name = wanted;
  while (name.empty() || (!named && sessions_.contains(name)))
    name = "trace-" + std::to_string(++unnamed_made_);
  if (sessions_.contains(name))
    return Error{Code::busy, "there is a session \"" + name + "\" already", "name"};
  if (auto within = check_sessions(owner); !within) return within.error();
  const auto account = take_account(owner);
  if (!account) return account.error();
  if (auto within = check_share_of_sessions(sessions_, *account,
                                            static_cast<uint32_t>(options_.quota.most_users));
      !within) {
    give_back_account(*account);
    return within.error();
  }
  const auto id = session_ids_.take();
  if (!id) {
    give_back_account(*account);
    return Error{Code::exhausted,
                 "there are " + std::to_string(int{TC_MAX_SESSIONS}) + " sessions, no more fit"};
  }
  Session& session = sessions_[name];
  session.id = static_cast<SessionId>(*id);
  session.name = name;
  session.named = named;
  session.saved = saved;
  session.access = access_of(session, owner);
  session.account = *account;
  if (budget) session.budget = Budget{.percent = *budget};
  kernel_->begin_session(session.id, owner, *account);
  return const_cast<const Session*>(&session);
}

Status Engine::give_file(const std::string& name, Fd fd, const std::string& path) {
  auto session = find(name);
  if (!session) return session.error();
  const auto& files = (*session)->access.files.all();
  const bool is_there = std::any_of(
      files.begin(), files.end(), [&](const GivenFiles::File& file) { return file.path == path; });
  if (!is_there)
    if (auto within = check_kept_file(**session); !within) return within;
  return (*session)->access.give(std::move(fd), path);
}

Result<SwitchSummary> Engine::delete_session(const std::string& name) {
  auto session = find(name);
  if (!session) return session.error();
  auto by = triggered_by(**session);
  std::erase(by, name);
  if (!by.empty())
    return Error{Code::busy,
                 "session \"" + name + "\" is triggered by session \"" + by.front() +
                     "\": remove that setting, or delete that session, first",
                 "session"};
  auto emptied =
      apply_leaving_out({.session = *session, .settings = {}, .coverage = {}, .options = {}});
  if (!emptied) return emptied.error();
  if ((*session)->has_rings) {
    reader_->close((*session)->id);
    kernel_->close_rings((*session)->id);
    if ((*session)->saved && keeper_) keeper_->forget_rings((*session)->id, kernel_->cpu_count());
  }
  kernel_->forget_session((*session)->id);
  session_ids_.give_back((*session)->id);
  const uint32_t account = (*session)->account;
  sessions_.erase(name);
  give_back_account(account);
  if (sessions_.empty()) resolver_.forget_files();
  return SwitchSummary{emptied->epoch, 1, emptied->removed, std::move(emptied->figures)};
}

// ---- drafts ----

// Checks, before anything is changed, that each spec is possible at each of its sites.
Status Engine::check_specs(const Coverage& coverage) {
  std::set<std::tuple<const Setting*, const Arguments*, const ReturnPlan*>> checked;
  for (const auto& [key, wants] : coverage.wants)
    for (const Want& want : wants)
      if (checked.insert({&want.setting(), want.site->args.get(), want.site->returns.get()}).second)
        if (auto possible = Hooks::check(want); !possible) return possible;
  return ok();
}

Result<StageSummary> Engine::stage_set(const std::string& name, std::vector<Setting> settings) {
  auto session = find(name);
  if (!session) return session.error();
  for (Setting& setting : settings) {
    if (auto noted = note_processes(setting.target); !noted) return noted.error();
    if (auto noted = note_units(setting.target, !(*session)->access.owner); !noted)
      return noted.error();
  }
  if (auto known = triggers_of(**session, settings); !known) return known.error();
  auto covered = cover({resolver_, (*session)->access}, settings);
  if (!covered) return covered.error();
  if (auto checked = check_specs(*covered); !checked) return checked.error();
  auto draft = (*session)->draft.value_or((*session)->settings);
  for (const Setting& setting : settings) {
    // The setting replaces the former one entirely, and goes to the end, because the last one staged is in force.
    const auto is_replaced = [&](const Setting& old) {
      return old.pattern == setting.pattern && old.target == setting.target;
    };
    Setting& staged = draft.emplace_back(setting);
    // Functions that have been seen to be called stay known, whatever the new setting asks for.
    for (size_t i = 0; i + 1 < draft.size(); ++i)
      if (is_replaced(draft[i]) && staged.graph.grow) staged.graph.grown = draft[i].graph.grown;
    draft.erase(std::remove_if(draft.begin(), draft.end() - 1, is_replaced), draft.end() - 1);
  }
  if (auto within = check_settings(**session, draft.size()); !within) return within.error();
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

// ---- rings ----

Status Engine::ensure_rings(Session& session, const Coverage& coverage) {
  return coverage.needs_rings() ? open_rings(session) : ok();
}

Status Engine::open_rings(Session& session) {
  if (session.has_rings) return ok();
  if (auto within = check_rings(session); !within) return within;
  auto rings = kernel_->open_rings(session.id, options_.ring_bytes);
  if (!rings) return rings.error();
  if (session.saved && keeper_)
    if (auto kept = keeper_->keep_rings(session.id, rings->by_cpu); !kept) {
      kernel_->close_rings(session.id);
      return kept;
    }
  if (auto opened = reader_->open(session.id, std::move(*rings), session.access.owner); !opened) {
    kernel_->close_rings(session.id);
    return opened;
  }
  session.has_rings = true;
  for (uint32_t i = 0; i < session.tags.size(); ++i)
    reader_->add_tag(session.id, i + 1, session.tags[i]);
  return ok();
}

void Engine::note_unsent(const std::string& name, uint64_t events) {
  const auto session = find(name);
  if (!session || !(*session)->has_rings || !(*session)->saved) return;
  kernel_->note_untold((*session)->id, kernel_->untold((*session)->id) + events);
}

// ---- results ----

Result<ReadSummary> Engine::read(const std::string& name, bool clear) {
  auto session = find(name);
  if (!session) return session.error();
  auto read = clear ? read_and_clear(**session) : read_so_far(**session);
  if (!read) return read;
  name_cgroups(read->results.rows, cgroup_names_);
  name_stacks(read->results.rows, *symbolizer_, (*session)->access.owner);
  return read;
}

Result<ReadSummary> Engine::read_so_far(const Session& session) {
  std::optional<Result<Results>> results;
  kernel_->long_work().run([&] { results = current_results(*kernel_, session); });
  if (!*results) return results->error();
  return ReadSummary{std::move(**results), epoch(), std::nullopt};
}

Totals Engine::totals(const Session& session) const { return current_totals(*kernel_, session); }

Result<uint64_t> Engine::flush(const std::string& name) {
  auto session = find(name);
  if (!session) return session.error();
  return reader_->flush((*session)->id);
}

Result<uint64_t> Engine::ask_flush(const std::string& name) {
  auto session = find(name);
  if (!session) return session.error();
  return reader_->ask_flush((*session)->id);
}

// A session that is gone has no more events.
Result<bool> Engine::is_flushed(const std::string& name, uint64_t asked_ns) const {
  const auto session = sessions_.find(name);
  if (session == sessions_.end()) return true;
  return reader_->is_flushed(session->second.id, asked_ns);
}

Status Engine::subscribe(const std::string& name, Subscriber subscriber) {
  auto session = find(name);
  if (!session) return session.error();
  // A subscriber may come before the first setting with events.
  if (auto rings = open_rings(**session); !rings) return rings;
  reader_->subscribe((*session)->id, std::move(subscriber));
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
