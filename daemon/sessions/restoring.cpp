// SPDX-License-Identifier: BSD-2-Clause
//
// Saved sessions of a former daemon. The same hooks are made again from the state that it has left
// (saving.cpp), with the numbers that they have in the kernel's tables, and put in force by a switch like
// any others: the links stay, and no hit is missed or counted twice.
#include "daemon/sessions/restoring.h"

#include <algorithm>

#include "daemon/kernel/ring.h"
#include "daemon/saved/said.h"
#include "daemon/switching/results.h"

namespace tracectl {

Error only_settings_left(const std::string& session) {
  return {Code::not_found, "of session \"" + session + "\" only its settings are left"};
}

Restoring::Restoring(const Parts& parts, DescriptorStore& store)
    : parts_(parts),
      restored_(RestoredState::begin(store, parts.kernel.switching(), parts.reading, parts.slots,
                                     parts.saving.saver())) {
  parts_.saving.saver().kernel_restored();
  parts_.hooks.restore(restored_.numbers());
  std::vector<uint32_t> numbers, accounts;
  for (const SessionState& session : restored_.state().sessions) {
    numbers.push_back(session.id);
    if (const uint32_t account = parts_.kernel.sessions().row(session.id).account)
      accounts.push_back(account);
  }
  parts_.sessions.take_numbers(std::move(numbers));
  parts_.quotas.take_accounts(std::move(accounts));
  parts_.switches.begin_restoring();
}

// A session that cannot be put in force does not hold back the others.
std::vector<Status> Restoring::restore(std::vector<Returning> sessions, const AccessOf& access_of) {
  std::vector<Status> answers;
  std::vector<Restored> restored;
  std::vector<size_t> places;  // of those restored among the answers
  for (Returning& one : sessions) {
    auto session = begin_session(std::move(one), access_of);
    answers.push_back(session ? ok() : Status(session.error()));
    if (!session) continue;
    places.push_back(answers.size() - 1);
    restored.push_back(std::move(*session));
  }
  drop_those_that_trigger_none(restored, places, answers);
  std::vector<uint32_t> dropped_stats;
  if (auto switched = switch_to(restored, dropped_stats); !switched) {
    for (const size_t place : places) answers[place] = switched.error();
    for (Restored& one : std::exchange(restored, {})) forget_session(*one.session);
    if (!switch_to(restored, dropped_stats)) dropped_stats.clear();  // it stays as it is
  }
  for (Restored& one : restored) settle(one);
  free_others(dropped_stats);
  parts_.switches.end_restoring();
  return answers;
}

Result<Restoring::Restored> Restoring::begin_session(Returning returning,
                                                     const AccessOf& access_of) {
  const SessionState* state = restored_.find(returning.name);
  if (!state || parts_.sessions.has(returning.name)) return only_settings_left(returning.name);
  Session& session = parts_.sessions.make_with(state->id, returning.name);
  session.saved = true;
  session.access = access_of(session, returning.owner);
  session.awaited.looked_ns = returning.last_ns;
  session.account = parts_.kernel.sessions().row(state->id).account;
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
  Restored restored{.session = &session, .coverage = std::make_shared<Coverage>(), .ended = {}};
  auto done = take_up_settings(session, *state);
  if (done) done = cover_again(session, *state, *restored.coverage, restored.ended);
  if (done && state->has_rings) done = restore_rings(session);
  if (done) return restored;
  forget_session(session);
  return done.error();
}

// The settings are saved separately from the state, so the two may differ if the daemon was killed.
Status Restoring::take_up_settings(Session& session, const SessionState& state) {
  const auto is_it = [](const Setting& setting, const SettingState& saved) {
    return said_in(setting) == saved.said;
  };
  if (!std::equal(session.settings.begin(), session.settings.end(), state.settings.begin(),
                  state.settings.end(), is_it))
    return Error{Code::invalid, "the settings in force of session \"" + session.name +
                                    "\" are not the saved ones"};
  for (size_t i = 0; i < session.settings.size(); ++i) {
    session.settings[i].target.unit_cgroups = state.settings[i].unit_cgroups;
    session.settings[i].graph.grown = state.settings[i].grown;
  }
  return ok();
}

void Restoring::forget_session(Session& session) {
  parts_.streams.leave(session);
  parts_.sessions.remove_but_number(session);
}

// A session that is not resumed is made anew, with another number, and so are those that trigger it.
void Restoring::drop_those_that_trigger_none(std::vector<Restored>& restored,
                                             std::vector<size_t>& places,
                                             std::vector<Status>& answers) {
  for (size_t i = 0; i < restored.size();) {
    Session& session = *restored[i].session;
    auto named = parts_.gates.triggers_of(session, session.settings);
    if (named) {
      session.triggers = std::move(*named);
      ++i;
      continue;
    }
    answers[places[i]] = named.error();
    forget_session(session);
    restored.erase(restored.begin() + static_cast<std::ptrdiff_t>(i));
    places.erase(places.begin() + static_cast<std::ptrdiff_t>(i));
    i = 0;
  }
}

Status Restoring::switch_to(std::vector<Restored>& restored, std::vector<uint32_t>& dropped_stats) {
  Switch change = parts_.switches.begin_without_lingering();
  for (const Restored& one : restored) {
    Commit& commit = change.commit_of(*one.session);
    if (auto planned = commit.plan(*one.coverage, one.session->settings); !planned) return planned;
  }
  drop_foreign(change, restored, dropped_stats);
  if (auto built = parts_.switches.build(change); !built) return built;
  parts_.switches.activate(change);
  return ok();
}

// Drops the hooks of sessions that are not resumed, and of processes that have ended.
void Restoring::drop_foreign(Switch& change, const std::vector<Restored>& restored,
                             std::vector<uint32_t>& dropped_stats) {
  std::map<uint32_t, const Restored*> by_session;
  for (const Restored& one : restored) by_session[one.session->id] = &one;
  for (const auto& [id, slot] : parts_.slots.by_id) {
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

// A process that has ended has no more hits, so its counts go to the session's past.
void Restoring::settle(Restored& restored) {
  for (const SlotWants& at : restored.ended)
    for (const Want& want : at.wants) retire_ended(*restored.session, want);
  for (SlotWants& at : restored.coverage->wants)
    for (Want& want : at.wants) want.saved = nullptr;
  Session& session = *restored.session;
  session.access.followed = followed_files(*restored.coverage);
  session.access.libraries = followed_libraries(*restored.coverage);
  session.coverage = std::move(restored.coverage);
  // A look finds the files that came meanwhile. It also fails with the reason if listen() fails.
  session.awaited.again = Awaiting::more_may_come(session);
  (void)!parts_.awaiting.listen(session, session.settings);
  parts_.awaiting.watch_what_is_chosen(session);
}

void Restoring::retire_ended(Session& session, const Want& want) {
  auto hook = parts_.hooks.make(session, want);
  if (!hook) return;
  const SessionHook held{.hook = *hook,
                         .probe = want.probe_name(),
                         .setting = want.part->setting,
                         .process = nullptr,
                         .returns = want.site->returns,
                         .cost = want.site->cost};
  if (retire(parts_.kernel.counters(), session, {&held})) parts_.hooks.discard(*hook);
}

WantedPart Restoring::part_again(const Session& session, const PartState& state,
                                 bool& has_ended) const {
  WantedPart part;
  part.object = restored_.object(state.object);
  part.unmapped = state.unmapped;
  part.follow = state.follow;
  part.executable = state.executable;
  part.cgroup = state.cgroup;
  part.probes = state.probes;
  part.of = state.of;
  part.what = state.what;
  part.of_one_file = state.of_one_file;
  part.sides = state.sides;
  if (state.pid) {
    auto process = Process::open(state.pid);
    has_ended = !process || process->birth() != state.birth;
    if (!has_ended) part.process = std::make_shared<const Process>(std::move(*process));
  }
  Setting setting = beside(session.settings[state.of], state.what);
  if (state.of_one_file) setting = of_one_file(std::move(setting), part.process.get());
  part.setting = std::make_shared<const Setting>(std::move(setting));
  return part;
}

// Restores the coverage from the state, for processes that have not ended; `ended` gets the rest.
Status Restoring::cover_again(const Session& session, const SessionState& state, Coverage& coverage,
                              std::vector<SlotWants>& ended) const {
  std::vector<const WantedPart*> parts;
  std::unordered_set<const WantedPart*> of_ended;
  for (const PartState& one : state.parts) {
    bool has_ended = false;
    parts.push_back(&coverage.parts.emplace_back(part_again(session, one, has_ended)));
    if (has_ended) of_ended.insert(parts.back());
  }
  for (const SlotWantsState& at : state.wants) {
    const auto slot = parts_.slots.by_id.find(at.slot);
    if (slot == parts_.slots.by_id.end())
      return Error{Code::not_found, "what kept its probes armed is gone"};
    SlotWants alive{slot->second.key, {}}, dead{slot->second.key, {}};
    for (const WantState& one : at.wants) {
      const WantedPart* part = parts[one.part];
      const Probe& probe = (*part->probes)[one.probe];
      (of_ended.contains(part) ? dead : alive)
          .wants.push_back({part, &probe, &probe.sites[one.site], one.sides, &one.saved});
    }
    if (!alive.wants.empty()) coverage.wants.push_back(std::move(alive));
    if (!dead.wants.empty()) ended.push_back(std::move(dead));
  }
  std::sort(coverage.wants.begin(), coverage.wants.end(),
            [](const SlotWants& a, const SlotWants& b) { return a.key < b.key; });
  return ok();
}

Status Restoring::restore_rings(Session& session) {
  SessionRings rings{.by_cpu = restored_.take_rings(session.id, parts_.kernel.cpu_count())};
  if (rings.by_cpu.empty())
    return Error{Code::not_found, "the rings of session \"" + session.name + "\" are gone"};
  // Daemons before this one may have made rings of other sizes.
  auto size = Ring::size_of(rings.by_cpu.front().get());
  if (!size) return size.error();
  rings.size_bytes = *size;
  return parts_.streams.restore(session, std::move(rings));
}

// Frees all that belonged to sessions that were not restored.
void Restoring::free_others(const std::vector<uint32_t>& dropped_stats) {
  std::set<uint32_t> restored;
  for (const auto& [name, session] : parts_.sessions) restored.insert(session.id);
  parts_.kernel.counters().forget_keys({dropped_stats.begin(), dropped_stats.end()});
  for (const uint32_t stat : dropped_stats) parts_.slots.stat_ids.give_back(stat);
  for (const SessionState& session : restored_.state().sessions) {
    if (restored.contains(session.id)) continue;
    const uint32_t account = parts_.kernel.sessions().row(session.id).account;
    parts_.kernel.rings().close(session.id);
    parts_.kernel.counters().forget_session(session.id);
    parts_.saving.saver().forget_rings(session.id, parts_.kernel.cpu_count());
    parts_.sessions.give_back(session.id);
    parts_.quotas.give_back_account(account);
  }
  parts_.hooks.end_restoring();
}

}  // namespace tracectl
