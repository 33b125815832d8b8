// SPDX-License-Identifier: BSD-2-Clause
//
// Saved sessions over a restart of the daemon. Before each switch all that a later daemon needs to go on with what
// is then in force is in the store, as a state that says under which epoch it is true: so a daemon that is killed
// before the switch leaves the one that holds, and behind it the other. The later daemon makes the same hooks again
// from the state, with the numbers that they have in the kernel's tables, and puts them in force by a switch, as it
// would any others: the links stay, and no hit is missed or counted twice.
#include <algorithm>

#include "daemon/trace/engine.h"
#include "daemon/trace/results.h"

namespace tracectl {
namespace {

// Of the target all but which processes the numbers mean, and what a command was about to map.
std::string said_in(const Target& target) {
  std::string said = target.all ? "all" : "";
  for (const pid_t pid : target.pids) said += ' ' + std::to_string(pid);
  said += " follow " + std::to_string(static_cast<int>(target.follow));
  for (const auto* names : {&target.executables, &target.cgroups, &target.units}) {
    for (const std::string& name : *names) said += '\n' + name;
    said += '\n';
  }
  return said;
}

// All of it that a user has said, so that no two of different meaning have the same.
std::string said_in(const Setting& setting) {
  const Spec& spec = setting.spec;
  std::string said = to_string(setting.pattern) + '\n' +
                     std::to_string(static_cast<int>(setting.pattern.scope)) + ' ' +
                     name_of(setting.returns) + '\n' + to_string(spec) + '\n';
  for (const auto* condition : {&spec.when, &spec.keep_if})
    said += (*condition ? to_string(**condition) : "") + '\n';
  if (const auto& latency = setting.latency)
    said += to_string(latency->from) + '\n' + keys_text(latency->by) + '\n' +
            std::to_string(latency->slowest) + '\n';
  for (const auto* patterns : {&setting.graph.only, &setting.graph.beside}) {
    for (const Pattern& pattern : *patterns) said += to_string(pattern) + '\n';
    said += '\n';
  }
  for (const std::string& skipped : setting.graph.skip) said += skipped + '\n';
  return said + (setting.graph.grow ? "grow\n" : "\n") + said_in(setting.target);
}

// What a session will have behind a switch, or has.
struct InForce {
  const std::vector<Setting>& settings;
  const Coverage* coverage;
  const std::unordered_map<SlotId, SessionHooks>& hooks;
  bool paused, gated;
};

InForce in_force(const Session& session, const Commit* change) {
  if (change)
    return {change->settings(), change->coverage(), change->hooks(), change->is_paused(),
            change->is_gated()};
  return {session.settings, session.coverage.get(), session.hooks, session.paused, session.gated};
}

// Objects and parts by their places in a state's lists.
class StateWriter {
 public:
  StateWriter(EngineState& state, const Slots& slots) : state_(state), slots_(slots) {}

  Status add(const Session& session, const InForce& will_be, Keeper& keeper);
  Status add_slot(SlotId id, Keeper& keeper);

 private:
  Result<uint32_t> number_of(const ObjectPtr& object, Keeper& keeper);
  static SlotWantsState wants_of(SlotId slot, const Wants& wants, const SessionHooks& held,
                                 const std::unordered_map<const WantedPart*, uint32_t>& parts);

  EngineState& state_;
  const Slots& slots_;
  std::map<const Object*, uint32_t> objects_;
};

Result<uint32_t> StateWriter::number_of(const ObjectPtr& object, Keeper& keeper) {
  if (const auto known = objects_.find(object.get()); known != objects_.end()) return known->second;
  auto number = keeper.keep_object(object);
  if (!number) return number.error();
  state_.objects.push_back({.number = *number,
                            .path = object->path(),
                            .facts = object->facts(),
                            .identity = object->identity()});
  return objects_[object.get()] = static_cast<uint32_t>(state_.objects.size() - 1);
}

Status StateWriter::add_slot(SlotId id, Keeper& keeper) {
  const Slot& slot = slots_.by_id.at(id);
  auto object = number_of(slot.object, keeper);
  if (!object) return object.error();
  state_.slots.push_back({id, slot.key, *object, slot.nop5});
  return ok();
}

// Of wants some may have no hook, as they were left out for what they cost.
SlotWantsState StateWriter::wants_of(SlotId slot, const Wants& wants, const SessionHooks& held,
                                     const std::unordered_map<const WantedPart*, uint32_t>& parts) {
  SlotWantsState kept{.slot = slot, .wants = {}};
  auto one = held.begin();
  for (const Want& want : wants) {
    if (one == held.end()) break;
    if (*one->probe != want.probe->name || one->hook.pair_sides != want.sides) continue;
    const Hook& hook = one++->hook;
    kept.wants.push_back(
        {.part = parts.at(want.part),
         .probe = static_cast<uint32_t>(want.probe - want.part->probes->data()),
         .site = static_cast<uint32_t>(want.site - want.probe->sites.data()),
         .sides = want.sides,
         .former = {.stat = hook.stat,
                    .source = hook.source,
                    .pair = hook.pair ? hook.pair->number() : 0,
                    .serial = hook.flags & TC_CALL ? hook.flags >> TC_SERIAL_SHIFT : 0,
                    .set_target = hook.set_target}});
  }
  return kept;
}

Status StateWriter::add(const Session& session, const InForce& will_be, Keeper& keeper) {
  SessionState kept{.name = session.name,
                    .id = session.id,
                    .epoch = session.epoch,
                    .paused = will_be.paused,
                    .gated = will_be.gated,
                    .is_dumped = session.is_dumped,
                    .marks = session.marks,
                    .has_rings = session.has_rings,
                    .tags = session.tags,
                    .settings = {},
                    .left_out = {},
                    .parts = {},
                    .wants = {}};
  if (session.budget) kept.left_out = session.budget->left_out;
  for (const Setting& setting : will_be.settings)
    kept.settings.push_back({said_in(setting), setting.target.unit_cgroups, setting.graph.grown});
  std::unordered_map<const WantedPart*, uint32_t> parts;
  for (const WantedPart& part : will_be.coverage->parts) {
    auto object = number_of(part.object, keeper);
    if (!object) return object.error();
    parts.emplace(&part, static_cast<uint32_t>(kept.parts.size()));
    kept.parts.push_back({.object = *object,
                          .of = part.of,
                          .what = part.what,
                          .of_one_file = part.of_one_file,
                          .sides = part.sides,
                          .pid = part.process ? part.process->pid() : 0,
                          .birth = part.process ? part.process->birth() : 0,
                          .unmapped = part.unmapped,
                          .follow = part.follow,
                          .executable = part.executable,
                          .cgroup = part.cgroup,
                          .probes = part.probes});
  }
  for (const SlotWants& at : will_be.coverage->wants) {
    const auto slot = slots_.by_key.find(at.key);
    if (slot == slots_.by_key.end()) continue;
    const auto held = will_be.hooks.find(slot->second);
    if (held == will_be.hooks.end()) continue;
    kept.wants.push_back(wants_of(slot->second, at.wants, held->second, parts));
  }
  kept.past = session.past;
  state_.sessions.push_back(std::move(kept));
  return ok();
}

}  // namespace

// ---- putting into the store ----

Status Engine::build(Switch& change) {
  if (auto built = change.build(); !built) return built;
  return keep(&change);
}

// What the switch brings about for saved sessions; none: what holds.
Status Engine::keep(const Switch* change) {
  if (!keeper_) return ok();
  const bool any = std::any_of(sessions_.begin(), sessions_.end(),
                               [](const auto& entry) { return entry.second.saved; });
  if (!any && !keeper_->has_state()) return ok();
  if (any)
    if (auto kept = keeper_->keep_kernel(*kernel_); !kept) return kept;
  EngineState state{.epoch = epoch() + (change ? 1 : 0),
                    .ring_bytes = options_.ring_bytes,
                    .last_source = hooks_.last_source(),
                    .last_serial = hooks_.last_serial(),
                    .last_pair = hooks_.last_pair(),
                    .last_incarnation = slots_.last_incarnation,
                    .layouts = slots_.layouts.all(),
                    .objects = {},
                    .slots = {},
                    .sessions = {}};
  const Staging as_it_is(*kernel_, slots_);
  const Staging& staging = change ? change->staging() : as_it_is;
  StateWriter writer(state, slots_);
  std::set<uint32_t> links;
  for (const auto& [name, session] : sessions_) {
    if (!session.saved) continue;
    const InForce will_be = in_force(session, change ? change->commit_of(session) : nullptr);
    if (!will_be.coverage) continue;
    if (auto added = writer.add(session, will_be, *keeper_); !added) return added;
    for (const auto& [slot, held] : will_be.hooks) links.insert(staging.link_of(slot));
  }
  for (const uint32_t link : links) {
    const auto& slots = staging.slots_of(link);
    for (const SlotId slot : slots)
      if (auto added = writer.add_slot(slot, *keeper_); !added) return added;
    const Way way = staging.way_of(slots.front());
    if (auto kept = keeper_->keep_link(staging.link(link), way); !kept) return kept;
  }
  kept_links_ = std::move(links);
  return keeper_->keep_state(state);
}

// Where there is no room for it the counts of hooks that are gone are lost with the daemon.
void Engine::keep_past() {
  if (!keeper_ || !keeper_->has_state()) return;
  if (keep(nullptr)) keeper_->forget_but(kept_links_);
}

// ---- taking from it ----

void Engine::adopt(DescriptorStore& store) {
  keeper_ = std::make_unique<Keeper>(store);
  if (!kernel_->is_adopted()) return;
  keeper_->kernel_went_on();
  adoption_ = Adoption::begin(store, *kernel_, *reading_, slots_, *keeper_);
  hooks_.adopt(adoption_->numbers());
  std::vector<uint32_t> ids, accounts;
  for (const SessionState& session : adoption_->state().sessions) {
    ids.push_back(session.id);
    if (const uint32_t account = kernel_->session_of(session.id).account)
      accounts.push_back(account);
  }
  session_ids_.adopt(std::move(ids));
  account_ids_.adopt(std::move(accounts));
}

// One that cannot be put in force does not keep the others from it.
std::vector<Status> Engine::go_on(std::vector<Returning> sessions) {
  std::vector<Status> answers;
  std::vector<Adopted> adopted;
  std::vector<size_t> places;  // of those adopted among the answers
  for (Returning& one : sessions) {
    auto session = adopt_session(std::move(one));
    answers.push_back(session ? ok() : Status(session.error()));
    if (!session) continue;
    places.push_back(answers.size() - 1);
    adopted.push_back(std::move(*session));
  }
  if (!adoption_) return answers;
  drop_those_that_trigger_none(adopted, places, answers);
  std::vector<uint32_t> dropped_stats;
  if (auto switched = switch_to(adopted, dropped_stats); !switched) {
    for (const size_t place : places) answers[place] = switched.error();
    for (Adopted& one : std::exchange(adopted, {})) forget_session(*one.session);
    if (!switch_to(adopted, dropped_stats)) dropped_stats.clear();  // it stays as it is
  }
  for (Adopted& one : adopted) settle(one);
  end_adoption(dropped_stats);
  return answers;
}

Result<Engine::Adopted> Engine::adopt_session(Returning returning) {
  const SessionState* state = adoption_ ? adoption_->find(returning.name) : nullptr;
  if (!state || sessions_.contains(returning.name))
    return Error{Code::not_found,
                 "of session \"" + returning.name + "\" only its settings are left"};
  Session& session = sessions_[returning.name];
  session.id = static_cast<SessionId>(state->id);
  session.name = returning.name;
  session.saved = true;
  session.access.owner = returning.owner;
  session.access.awaits_libraries = options_.awaits_libraries && !returning.owner;
  session.awaited.looked_ns = returning.last_ns;
  session.account = kernel_->session_of(state->id).account;
  if (returning.budget)
    session.budget = Budget{.percent = *returning.budget, .left_out = state->left_out};
  session.settings = std::move(returning.settings);
  session.paused = state->paused;
  session.gated = state->gated;
  session.is_dumped = state->is_dumped;
  session.marks = state->marks;
  session.tags = state->tags;
  session.epoch = state->epoch;
  session.past = state->past;
  Adopted adopted{.session = &session, .coverage = std::make_shared<Coverage>(), .ended = {}};
  auto done = take_up_settings(session, *state);
  if (done) done = cover_again(session, *state, *adopted.coverage, adopted.ended);
  if (done && state->has_rings) done = adopt_rings(session);
  if (done) return adopted;
  forget_session(session);
  return done.error();
}

// The settings were written down by somebody else, who may have come to that or not.
Status Engine::take_up_settings(Session& session, const SessionState& state) {
  const auto is_it = [](const Setting& setting, const SettingState& kept) {
    return said_in(setting) == kept.said;
  };
  if (!std::equal(session.settings.begin(), session.settings.end(), state.settings.begin(),
                  state.settings.end(), is_it))
    return Error{Code::invalid, "what was in force of session \"" + session.name +
                                    "\" are not the settings that are known of it"};
  for (size_t i = 0; i < session.settings.size(); ++i) {
    session.settings[i].target.unit_cgroups = state.settings[i].unit_cgroups;
    session.settings[i].graph.grown = state.settings[i].grown;
  }
  return ok();
}

void Engine::forget_session(Session& session) {
  if (session.has_rings) reader_->close(session.id);
  const std::string name = session.name;
  sessions_.erase(name);
}

// One that does not go on is made anew, with another number: so are those that trigger it.
void Engine::drop_those_that_trigger_none(std::vector<Adopted>& adopted,
                                          std::vector<size_t>& places,
                                          std::vector<Status>& answers) {
  for (size_t i = 0; i < adopted.size();) {
    Session& session = *adopted[i].session;
    auto named = triggers_of(session, session.settings);
    if (named) {
      session.triggers = std::move(*named);
      ++i;
      continue;
    }
    answers[places[i]] = named.error();
    forget_session(session);
    adopted.erase(adopted.begin() + static_cast<std::ptrdiff_t>(i));
    places.erase(places.begin() + static_cast<std::ptrdiff_t>(i));
    i = 0;
  }
}

Status Engine::switch_to(std::vector<Adopted>& adopted, std::vector<uint32_t>& dropped_stats) {
  Switch change(*kernel_, slots_, hooks_, 0);
  for (const Adopted& one : adopted) {
    Commit& commit = change.commit_of(*one.session);
    if (auto planned = commit.plan(*one.coverage, one.session->settings); !planned) return planned;
  }
  drop_foreign(change, adopted, dropped_stats);
  if (auto built = build(change); !built) return built;
  activate(change);
  return ok();
}

// Of sessions that do not go on, and of processes that have ended.
void Engine::drop_foreign(Switch& change, const std::vector<Adopted>& adopted,
                          std::vector<uint32_t>& dropped_stats) {
  std::map<uint32_t, const Adopted*> by_session;
  for (const Adopted& one : adopted) by_session[one.session->id] = &one;
  for (const auto& [id, slot] : slots_.by_id) {
    std::set<SessionId> dropped;
    for (const Hook& hook : slot.hooks) {
      const auto found = by_session.find(hook.session);
      if (found == by_session.end())
        dropped_stats.push_back(hook.stat);
      else if (found->second->coverage->find(slot.key) != found->second->coverage->wants.end())
        continue;
      dropped.insert(hook.session);
    }
    for (const SessionId session : dropped) change.drop(id, session);
  }
}

// A process that has ended hits nothing more: what was counted for it is the session's past.
void Engine::settle(Adopted& adopted) {
  for (const SlotWants& at : adopted.ended)
    for (const Want& want : at.wants) retire_ended(*adopted.session, want);
  for (SlotWants& at : adopted.coverage->wants)
    for (Want& want : at.wants) want.former = nullptr;
  Session& session = *adopted.session;
  session.access.followed = followed_files(*adopted.coverage);
  session.access.libraries = followed_libraries(*adopted.coverage);
  session.coverage = std::move(adopted.coverage);
  // What came meanwhile is found by a look, which also fails with the reason where that cannot be heard of.
  session.awaited.again = more_may_come(session);
  (void)!hear_of_programs(session, session.settings);
  watch_what_is_chosen(session);
}

void Engine::retire_ended(Session& session, const Want& want) {
  auto hook = hooks_.make(session, want);
  if (!hook) return;
  const SessionHook held{.hook = *hook,
                         .probe = want.probe_name(),
                         .setting = want.part->setting,
                         .process = nullptr,
                         .returns = want.site->returns,
                         .cost = want.site->cost};
  if (retire(*kernel_, session, {&held})) hooks_.discard(*hook);
}

// As the state has it, of those processes that have not ended; `ended`: the others'.
Status Engine::cover_again(const Session& session, const SessionState& state, Coverage& coverage,
                           std::vector<SlotWants>& ended) const {
  std::vector<const WantedPart*> parts;
  std::unordered_set<const WantedPart*> of_ended;
  for (const PartState& one : state.parts) {
    WantedPart part;
    part.object = adoption_->object(one.object);
    part.unmapped = one.unmapped;
    part.follow = one.follow;
    part.executable = one.executable;
    part.cgroup = one.cgroup;
    part.probes = one.probes;
    part.of = one.of;
    part.what = one.what;
    part.of_one_file = one.of_one_file;
    part.sides = one.sides;
    bool has_ended = false;
    if (one.pid) {
      auto process = Process::open(one.pid);
      has_ended = !process || process->birth() != one.birth;
      if (!has_ended) part.process = std::make_shared<const Process>(std::move(*process));
    }
    Setting setting = beside(session.settings[one.of], one.what);
    if (one.of_one_file) setting = of_one_file(std::move(setting), part.process.get());
    part.setting = std::make_shared<const Setting>(std::move(setting));
    parts.push_back(&coverage.parts.emplace_back(std::move(part)));
    if (has_ended) of_ended.insert(parts.back());
  }
  for (const SlotWantsState& at : state.wants) {
    const auto slot = slots_.by_id.find(at.slot);
    if (slot == slots_.by_id.end())
      return Error{Code::not_found, "what kept its probes armed is gone"};
    SlotWants alive{slot->second.key, {}}, dead{slot->second.key, {}};
    for (const WantState& one : at.wants) {
      const WantedPart* part = parts[one.part];
      const Probe& probe = (*part->probes)[one.probe];
      (of_ended.contains(part) ? dead : alive)
          .wants.push_back({part, &probe, &probe.sites[one.site], one.sides, &one.former});
    }
    if (!alive.wants.empty()) coverage.wants.push_back(std::move(alive));
    if (!dead.wants.empty()) ended.push_back(std::move(dead));
  }
  std::sort(coverage.wants.begin(), coverage.wants.end(),
            [](const SlotWants& a, const SlotWants& b) { return a.key < b.key; });
  return ok();
}

Status Engine::adopt_rings(Session& session) {
  Rings rings{.by_cpu = adoption_->take_rings(session.id, kernel_->cpu_count()),
              .size_bytes = adoption_->state().ring_bytes};
  if (rings.by_cpu.empty())
    return Error{Code::not_found, "the rings of session \"" + session.name + "\" are gone"};
  if (auto going = reader_->go_on(session.id, std::move(rings)); !going) return going;
  session.has_rings = true;
  for (uint32_t i = 0; i < session.tags.size(); ++i)
    reader_->add_tag(session.id, i + 1, session.tags[i]);
  return ok();
}

// What belonged to sessions that have not gone on is free.
void Engine::end_adoption(const std::vector<uint32_t>& dropped_stats) {
  std::set<uint32_t> adopted;
  for (const auto& [name, session] : sessions_) adopted.insert(session.id);
  for (const uint32_t stat : dropped_stats) slots_.stat_ids.give_back(stat);
  for (const SessionState& session : adoption_->state().sessions) {
    if (adopted.contains(session.id)) continue;
    const uint32_t account = kernel_->session_of(session.id).account;
    kernel_->close_rings(session.id);
    kernel_->forget_calls(session.id);
    keeper_->forget_rings(session.id, kernel_->cpu_count());
    session_ids_.give_back(session.id);
    give_back_account(account);
  }
  hooks_.end_adoption();
  adoption_.reset();
}

}  // namespace tracectl
