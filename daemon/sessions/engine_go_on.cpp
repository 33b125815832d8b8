// SPDX-License-Identifier: BSD-2-Clause
//
// Saved sessions of a former daemon. The same hooks are made again from the state that it has left
// (engine_keep.cpp), with the numbers that they have in the kernel's tables, and put in force by a switch like
// any others: the links stay, and no hit is missed or counted twice.
#include <algorithm>

#include "daemon/kernel/ring.h"
#include "daemon/saved/said.h"
#include "daemon/sessions/engine.h"
#include "daemon/switching/results.h"

namespace tracectl {

void Engine::adopt(DescriptorStore& store) {
  keeper_ = std::make_unique<Keeper>(store, kernel_->long_work());
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

// A session that cannot be put in force does not hold back the others.
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
  session.access = access_of(session, returning.owner);
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

// The settings are saved separately from the state, so the two may differ if the daemon was killed.
Status Engine::take_up_settings(Session& session, const SessionState& state) {
  const auto is_it = [](const Setting& setting, const SettingState& kept) {
    return said_in(setting) == kept.said;
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

void Engine::forget_session(Session& session) {
  if (session.has_rings) reader_->close(session.id);
  const std::string name = session.name;
  sessions_.erase(name);
}

// A session that is not resumed is made anew, with another number, and so are those that trigger it.
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

// Drops the hooks of sessions that are not resumed, and of processes that have ended.
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

// A process that has ended has no more hits, so its counts go to the session's past.
void Engine::settle(Adopted& adopted) {
  for (const SlotWants& at : adopted.ended)
    for (const Want& want : at.wants) retire_ended(*adopted.session, want);
  for (SlotWants& at : adopted.coverage->wants)
    for (Want& want : at.wants) want.former = nullptr;
  Session& session = *adopted.session;
  session.access.followed = followed_files(*adopted.coverage);
  session.access.libraries = followed_libraries(*adopted.coverage);
  session.coverage = std::move(adopted.coverage);
  // A look finds the files that came meanwhile. It also fails with the reason if hear_of_programs() fails.
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

// Restores the coverage from the state, for processes that have not ended; `ended` gets the rest.
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
  Rings rings{.by_cpu = adoption_->take_rings(session.id, kernel_->cpu_count())};
  if (rings.by_cpu.empty())
    return Error{Code::not_found, "the rings of session \"" + session.name + "\" are gone"};
  // Daemons before this one may have made rings of other sizes.
  auto size = Ring::size_of(rings.by_cpu.front().get());
  if (!size) return size.error();
  rings.size_bytes = *size;
  if (auto going = reader_->go_on(session.id, std::move(rings), session.access.owner); !going)
    return going;
  session.has_rings = true;
  for (uint32_t i = 0; i < session.tags.size(); ++i)
    reader_->add_tag(session.id, i + 1, session.tags[i]);
  return ok();
}

// Frees all that belonged to sessions that were not resumed.
void Engine::end_adoption(const std::vector<uint32_t>& dropped_stats) {
  std::set<uint32_t> adopted;
  for (const auto& [name, session] : sessions_) adopted.insert(session.id);
  kernel_->forget_keys({dropped_stats.begin(), dropped_stats.end()});
  for (const uint32_t stat : dropped_stats) slots_.stat_ids.give_back(stat);
  for (const SessionState& session : adoption_->state().sessions) {
    if (adopted.contains(session.id)) continue;
    const uint32_t account = kernel_->session_of(session.id).account;
    kernel_->close_rings(session.id);
    kernel_->forget_session(session.id);
    keeper_->forget_rings(session.id, kernel_->cpu_count());
    session_ids_.give_back(session.id);
    give_back_account(account);
  }
  hooks_.end_adoption();
  adoption_.reset();
}

}  // namespace tracectl
