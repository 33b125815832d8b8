// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/trace/engine.h"

#include <algorithm>

namespace tracectl {

// What a session wants of one slot.
struct Engine::Want {
  ObjectPtr object;
  std::shared_ptr<const std::string> probe;
  std::shared_ptr<const Arguments> args;
  std::shared_ptr<const Setting> setting;
  std::shared_ptr<const Process> process;
  std::optional<std::pair<dev_t, ino_t>> executable;
};

struct Engine::Prepared {
  Wants wants;
  std::vector<Refusal> refused;
  std::vector<std::string> notes;
};

namespace {

constexpr size_t kLongestName = 64;

bool is_session_name(const std::string& name) {
  return !name.empty() && name.size() <= kLongestName &&
         std::all_of(name.begin(), name.end(), [](unsigned char c) {
           return std::isalnum(c) || c == '-' || c == '_' || c == '.';
         });
}

uint32_t flags_of(const Spec& spec) {
  uint32_t flags = spec.event ? TC_EVENT : 0;
  for (const Key key : spec.by) flags |= key == Key::pid ? TC_COUNT_BY_PID : TC_COUNT_BY_TID;
  return flags;
}

bool counts_by_key(const Hook& hook) {
  return hook.flags & (TC_COUNT_BY_PID | TC_COUNT_BY_TID);
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
  return Error{Code::unsupported,
               message + "\nnothing was changed; --partial arms the rest", "patterns"};
}

template <class Hooks>
size_t distinct_probes(const Hooks& hooks) {
  std::vector<std::string_view> names;
  for (const auto& [slot, held] : hooks) names.push_back(*held.probe);
  std::sort(names.begin(), names.end());
  return static_cast<size_t>(std::unique(names.begin(), names.end()) - names.begin());
}

}  // namespace

Result<std::unique_ptr<Engine>> Engine::start(std::unique_ptr<Kernel> kernel,
                                              const EngineOptions& options) {
  std::unique_ptr<Engine> engine{new Engine(std::move(kernel), options)};
  auto reader = EventReader::start(*engine->kernel_);
  if (!reader) return reader.error();
  engine->reader_ = std::move(*reader);
  return engine;
}

Engine::Engine(std::unique_ptr<Kernel> kernel, const EngineOptions& options)
    : options_(options), kernel_(std::move(kernel)), slots_(*kernel_), set_targets_(*kernel_) {}

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
    for (const auto& [slot, held] : session.hooks) {
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
    return Error{Code::invalid,
                 "a session's name has 1 to 64 letters, digits, '-', '_' and '.'", "name"};
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
  auto emptied = apply(**session, {}, Prepared{}, CommitOptions{});
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

Result<StageSummary> Engine::stage_set(const std::string& name,
                                       const std::vector<Setting>& settings) {
  auto session = find(name);
  if (!session) return session.error();
  auto covered = prepare(settings);
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
                       .probes = 0,
                       .sites = covered->wants.size(),
                       .refused = std::move(covered->refused),
                       .notes = std::move(covered->notes)};
  std::vector<std::string_view> names;
  for (const auto& [key, want] : covered->wants) names.push_back(*want.probe);
  std::sort(names.begin(), names.end());
  summary.probes =
      static_cast<size_t>(std::unique(names.begin(), names.end()) - names.begin());
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

Result<Engine::Prepared> Engine::prepare(const std::vector<Setting>& settings) {
  Prepared prepared;
  for (const Setting& setting : settings) {
    if (setting.target.empty())
      return Error{Code::invalid,
                   "choose the processes for " + to_string(setting.pattern) +
                       ": -p PID, -x PATH, -a, or -- COMMAND",
                   "target"};
    auto resolved = resolver_.resolve(setting.pattern, setting.target);
    if (!resolved) return resolved.error();
    const auto shared = std::make_shared<const Setting>(setting);
    for (const Resolved& part : resolved->parts) add_wants(part, shared, prepared);
    std::move(resolved->refused.begin(), resolved->refused.end(),
              std::back_inserter(prepared.refused));
    std::move(resolved->notes.begin(), resolved->notes.end(), std::back_inserter(prepared.notes));
  }
  return prepared;
}

void Engine::add_wants(const Resolved& part, const std::shared_ptr<const Setting>& setting,
                       Prepared& prepared) {
  const FileIdentity& file = part.object->identity();
  std::optional<std::pair<dev_t, ino_t>> executable;
  if (part.executable) executable = {file.device, file.inode};
  for (const Probe& probe : part.probes) {
    const auto name = std::make_shared<const std::string>(probe.name);
    for (const Site& site : probe.sites) {
      const SlotKey key{file.device, file.inode, part.process ? part.process->pid() : 0,
                        site.offset, site.semaphore};
      prepared.wants.insert_or_assign(
          key, Want{part.object, name, site.args, setting, part.process, executable});
    }
  }
}

Result<CommitSummary> Engine::commit(const std::string& name, const CommitOptions& options) {
  auto session = find(name);
  if (!session) return session.error();
  const auto settings = (*session)->draft.value_or((*session)->settings);
  auto prepared = prepare(settings);
  auto summary = prepared ? apply(**session, settings, std::move(*prepared), options)
                          : Result<CommitSummary>(prepared.error());
  if (!summary) ++stats_.failed_commits;
  if (summary && !options.dry_run) (*session)->draft.reset();
  return summary;
}

// Hooks made for a commit that has not switched yet: given back if it never does.
class FreshHooks {
 public:
  explicit FreshHooks(std::function<void(const Hook&)> discard) : discard_(std::move(discard)) {}
  ~FreshHooks() {
    for (const Hook& hook : hooks_) discard_(hook);
  }
  FreshHooks(const FreshHooks&) = delete;
  FreshHooks& operator=(const FreshHooks&) = delete;

  void add(const Hook& hook) { hooks_.push_back(hook); }
  void keep() { hooks_.clear(); }

 private:
  std::function<void(const Hook&)> discard_;
  std::vector<Hook> hooks_;
};

namespace {

// A setting that is staged again as it was keeps its hook, and with it its counts.
bool stays(const SessionHook& held, const std::string& probe, const Setting& setting) {
  return *held.probe == probe && held.setting->spec == setting.spec &&
         held.setting->target == setting.target;
}

std::vector<Refusal> refusals_of(const Staging& staging, const SlotKey& key,
                                 const std::string& probe) {
  std::vector<Refusal> refused;
  for (const auto& site : staging.refused())
    if (site.key == key)
      refused.push_back({probe, key.offset,
                         key.filter ? std::optional<pid_t>(key.filter) : std::nullopt,
                         site.reason});
  return refused;
}

}  // namespace

Result<CommitSummary> Engine::apply(Session& session, const std::vector<Setting>& settings,
                                    Prepared prepared, const CommitOptions& options) {
  if (!prepared.refused.empty() && !options.partial) return refusal_error(prepared.refused);
  CommitSummary summary;
  Staging staging(*kernel_, slots_);
  FreshHooks fresh([this](const Hook& hook) { discard(hook); });
  std::unordered_map<SlotId, SessionHook> after;
  std::vector<SessionHook> gone;
  const uint64_t next_epoch = kernel_->epoch() + 1;
  std::map<SlotKey, SessionHook> made;

  const bool any_event = std::any_of(prepared.wants.begin(), prepared.wants.end(), [](auto& w) {
    return w.second.setting->spec.event;
  });
  if (any_event && !options.dry_run)
    if (auto rings = ensure_rings(session); !rings) return rings.error();

  for (const auto& [key, want] : prepared.wants) {
    const auto slot = slots_.by_key.find(key);
    const auto held = slot == slots_.by_key.end() ? session.hooks.end()
                                                  : session.hooks.find(slot->second);
    if (held != session.hooks.end() && stays(held->second, *want.probe, *want.setting)) {
      after.insert(*held);
      continue;
    }
    ++(held == session.hooks.end() ? summary.added : summary.updated);
    if (held != session.hooks.end()) gone.push_back(held->second);
    if (options.dry_run) continue;
    auto hook = make_hook(session, want);
    if (!hook) return hook.error();
    fresh.add(*hook);
    if (auto wanted = staging.want(key, want.object, *hook); !wanted) return wanted.error();
    made.emplace(key, SessionHook{*hook, want.probe, want.setting, want.process, next_epoch});
  }
  for (const auto& [slot, held] : session.hooks) {
    if (prepared.wants.contains(slots_.by_id.at(slot).key)) continue;
    ++summary.removed;
    gone.push_back(held);
    if (!options.dry_run) staging.drop(slot, session.id);
  }
  summary.refused = prepared.refused;
  summary.notes = prepared.notes;
  summary.sites = prepared.wants.size();
  if (options.dry_run) {
    std::map<SlotKey, Want*> none;
    std::vector<std::string_view> names;
    for (const auto& [key, want] : prepared.wants) names.push_back(*want.probe);
    std::sort(names.begin(), names.end());
    summary.probes = static_cast<size_t>(std::unique(names.begin(), names.end()) - names.begin());
    return summary;
  }

  if (auto built = staging.build(); !built) {
    if (staging.refused().empty()) return built.error();
    // The kernel itself refused some sites: without them, once more, if the user wants that.
    Prepared rest = prepared;
    for (const auto& site : staging.refused()) {
      const auto want = rest.wants.find(site.key);
      if (want == rest.wants.end()) return built.error();
      const auto more = refusals_of(staging, site.key, *want->second.probe);
      rest.refused.insert(rest.refused.end(), more.begin(), more.end());
      rest.wants.erase(want);
    }
    if (!options.partial) return refusal_error(rest.refused);
    return apply(session, settings, std::move(rest), options);
  }
  summary.epoch = staging.activate([&] { retire(session, gone); });
  fresh.keep();
  ++stats_.commits;
  ++stats_.waits;
  for (auto& [key, hook] : made) after.emplace(slots_.by_key.at(key), std::move(hook));
  session.hooks = std::move(after);
  session.settings = settings;
  session.epoch = summary.epoch;
  summary.probes = distinct_probes(session.hooks);
  summary.sites = session.hooks.size();
  summary.phases = staging.phases();
  return summary;
}

Result<Hook> Engine::make_hook(Session& session, const Want& want) {
  Hook hook;
  hook.session = session.id;
  hook.flags = flags_of(want.setting->spec);
  hook.tgid = want.process ? want.process->pid() : 0;
  if (want.setting->spec.event) {
    auto layout = slots_.layouts.index_of(*want.args);
    if (!layout) return layout.error();
    hook.layout = *layout;
    auto source = source_of(session, *want.probe, *layout, *want.args);
    if (!source) return source.error();
    hook.source = *source;
  }
  const auto stat = slots_.stat_ids.take();
  if (!stat)
    return Error{Code::exhausted, "the table of counters is full (" +
                                      std::to_string(slots_.stat_ids.limit()) + ")"};
  hook.stat = *stat;
  kernel_->clear_stat(*stat);
  if (want.executable) {
    auto set = set_targets_.take(want.executable->first, want.executable->second);
    if (!set) {
      slots_.stat_ids.give_back(*stat);
      return set.error();
    }
    hook.set_target = *set;
  }
  return hook;
}

void Engine::discard(const Hook& hook) {
  slots_.stat_ids.give_back(hook.stat);
  if (hook.set_target) set_targets_.give_back(hook.set_target);
}

Result<uint32_t> Engine::source_of(Session& session, const std::string& probe, uint32_t layout,
                                   const Arguments& arguments) {
  const auto [entry, fresh] = session.sources.try_emplace({probe, layout}, 0);
  if (fresh) {
    entry->second = ++last_source_;
    reader_->add_source(session.id, entry->second,
                        std::make_shared<const EventSource>(
                            EventSource{probe, session.name, arguments}));
  }
  return entry->second;
}

Status Engine::ensure_rings(Session& session) {
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

namespace {

bool has_row(const SessionHook& held) { return held.setting->spec.count; }

void add_rows(const SessionHook& held, const tc_stat& stat, Results& results) {
  results.totals.add(stat);
  if (has_row(held) && !counts_by_key(held.hook)) results.rows[{*held.probe}] += stat.hits;
}

void add_row(const SessionHook& held, const KeyCount& count, Results& results) {
  results.rows[{*held.probe, static_cast<pid_t>(count.key.pid),
                static_cast<pid_t>(count.key.tid)}] += count.count;
}

std::unordered_map<uint32_t, const SessionHook*> keyed_hooks(const auto& hooks) {
  std::unordered_map<uint32_t, const SessionHook*> by_stat;
  for (const SessionHook& held : hooks)
    if (counts_by_key(held.hook)) by_stat.emplace(held.hook.stat, &held);
  return by_stat;
}

}  // namespace

// Runs when nobody writes to the old hooks' counters any more: what they say is final.
void Engine::retire(Session& session, const std::vector<SessionHook>& gone) {
  for (const SessionHook& held : gone)
    add_rows(held, kernel_->read_stat(held.hook.stat), session.past);
  if (const auto by_stat = keyed_hooks(gone); !by_stat.empty()) {
    std::vector<tc_key> done;
    auto counts = kernel_->read_counts();
    for (const KeyCount& count : counts ? *counts : std::vector<KeyCount>{}) {
      const auto held = by_stat.find(count.key.stat);
      if (held == by_stat.end()) continue;
      add_row(*held->second, count, session.past);
      done.push_back(count.key);
    }
    kernel_->delete_counts(done);
  }
  for (const SessionHook& held : gone) discard(held.hook);
}

Result<Results> Engine::current(const Session& session) const {
  Results results = session.past;
  std::vector<SessionHook> hooks;
  for (const auto& [slot, held] : session.hooks) {
    add_rows(held, kernel_->read_stat(held.hook.stat), results);
    if (counts_by_key(held.hook)) hooks.push_back(held);
  }
  if (hooks.empty()) return results;
  const auto by_stat = keyed_hooks(hooks);
  auto counts = kernel_->read_counts();
  if (!counts) return counts.error();
  for (const KeyCount& count : *counts)
    if (const auto held = by_stat.find(count.key.stat); held != by_stat.end())
      add_row(*held->second, count, results);
  return results;
}

Result<Results> Engine::read(const std::string& name, bool clear) {
  auto session = find(name);
  if (!session) return session.error();
  return clear ? read_and_clear(**session) : current(**session);
}

// Every hook gets fresh counters in one switch; after the wait the old ones are final. What was
// counted before the switch is in the answer, what comes after it in the next.
Result<Results> Engine::read_and_clear(Session& session) {
  Staging staging(*kernel_, slots_);
  FreshHooks fresh([this](const Hook& hook) { slots_.stat_ids.give_back(hook.stat); });
  auto after = session.hooks;
  std::vector<SessionHook> gone;
  for (auto& [slot, held] : after) {
    gone.push_back(held);
    const auto stat = slots_.stat_ids.take();
    if (!stat)
      return Error{Code::exhausted, "no counters are free to read and zero in one cut"};
    held.hook.stat = *stat;
    kernel_->clear_stat(*stat);
    fresh.add(held.hook);
    const Slot& at = slots_.by_id.at(slot);
    if (auto wanted = staging.want(at.key, at.object, held.hook); !wanted) return wanted.error();
  }
  if (auto built = staging.build(); !built) return built.error();
  staging.activate([&] {
    // The sets of processes go on being used by the hooks that take over.
    for (SessionHook& held : gone) held.hook.set_target = 0;
    retire(session, gone);
  });
  fresh.keep();
  ++stats_.commits;
  ++stats_.waits;
  session.hooks = std::move(after);
  Results results = std::move(session.past);
  session.past = {};
  return results;
}

Totals Engine::totals(const Session& session) const {
  Totals totals = session.past.totals;
  for (const auto& [slot, held] : session.hooks) totals.add(kernel_->read_stat(held.hook.stat));
  return totals;
}

Result<uint64_t> Engine::flush(const std::string& name) {
  auto session = find(name);
  if (!session) return session.error();
  return reader_->flush((*session)->id);
}

Status Engine::subscribe(const std::string& name, std::shared_ptr<EventSink> sink) {
  auto session = find(name);
  if (!session) return session.error();
  // A subscriber may be there before the first event setting.
  if (auto rings = ensure_rings(**session); !rings) return rings;
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
