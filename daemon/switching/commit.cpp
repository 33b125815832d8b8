// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/switching/commit.h"

#include <algorithm>

namespace tracectl {
namespace {

const SessionHooks* held_at(const Slots& slots, const Session& session, const SlotKey& key) {
  const auto slot = slots.by_key.find(key);
  if (slot == slots.by_key.end()) return nullptr;
  const auto held = session.hooks.find(slot->second);
  return held == session.hooks.end() ? nullptr : &held->second;
}

bool stays(const SessionHook& held, const Want& want) {
  const bool same_setting =
      held.setting == want.part->setting ||
      (held.setting->spec == want.setting().spec && held.setting->target == want.setting().target &&
       held.setting->returns == want.setting().returns &&
       held.setting->latency == want.setting().latency);
  return same_setting && held.hook.pair_sides == want.sides && *held.probe == want.probe->name &&
         same_process(held.process, want.part->process) && held.cgroup == want.part->cgroup;
}

// A process has a page once, in whatever way its sites are armed.
bool same_page(const SlotKey& a, const SlotKey& b) {
  constexpr uint64_t kLeastPage = 4096;
  return a.device == b.device && a.inode == b.inode && a.filter == b.filter &&
         a.offset / kLeastPage == b.offset / kLeastPage;
}

// Groups as in the coverage.
bool is_of_group(const SessionHook& held, const Want& want) {
  return *held.probe == want.probe->name &&
         held.setting->spec.learns_tags == want.setting().spec.learns_tags &&
         held.setting->spec.sees_callees == want.setting().spec.sees_callees;
}

bool stay(const SessionHooks& held, const Wants& wants) {
  return std::equal(held.begin(), held.end(), wants.begin(), wants.end(), stays);
}

// The functions shown below a root's calls are not part of its hook, so the hook can take another setting
// while its open calls stay open.
SessionHooks renamed(SessionHooks held, const Wants& wants) {
  for (size_t i = 0; i < held.size(); ++i) held[i].setting = wants[i].part->setting;
  return held;
}

}  // namespace

Commit::~Commit() {
  for (const Hook& hook : made_) discard(hook);
}

void Commit::discard(const Hook& hook) {
  if (only_counters_)
    hooks_.discard_counters(hook);
  else
    hooks_.discard(hook);
}

// ---- planning ----

void Commit::expect(size_t slots, size_t hooks) {
  made_.reserve(hooks);
  fresh_stats_.reserve(hooks);
  next_.reserve(slots);
}

Status Commit::plan(const Coverage& coverage, const std::vector<Setting>& settings) {
  coverage_ = &coverage;
  settings_ = &settings;
  size_t hooks = 0;
  for (const auto& [key, wants] : coverage.wants) hooks += wants.size();
  expect(coverage.wants.size(), hooks);
  for (const SlotWants& wanted : coverage.wants) {
    const SessionHooks* held = held_at(slots_, session_, wanted.key);
    if (held && gated_ == session_.gated && stay(*held, wanted.wants)) {
      next_.emplace(slots_.by_key.at(wanted.key), renamed(*held, wanted.wants));
      continue;
    }
    if (held)
      ++changes_.updated;
    else
      count_added(wanted);
    HeldHooks now;
    if (held)
      for (const SessionHook& one : *held) now.push_back(&one);
    if (auto added = add(wanted, std::move(now)); !added) return added;
  }
  drop_unwanted();
  changes_.table_bytes = bytes_to_grow();
  return ok();
}

uint64_t Commit::bytes_to_grow() const {
  const auto last = std::max_element(fresh_stats_.begin(), fresh_stats_.end());
  const uint32_t end = last == fresh_stats_.end() ? 0 : *last + 1;
  return counters_.bytes_to_make_stats(end) + staging_.bytes_to_grow();
}

Status Commit::begin_counters() {
  for (const uint32_t stat : fresh_stats_)
    if (auto begun = counters_.begin_stat(stat, session_.id); !begun) return begun;
  return ok();
}

// Call it in the order of the keys.
void Commit::count_added(const SlotWants& wanted) {
  ++changes_.added;
  ++changes_.breakpoints;
  for (const Want& want : wanted.wants)
    if (want.site->returns && want.site->returns->way == Way::exits) {
      changes_.breakpoints += want.site->returns->exits.size();
      break;
    }
  if (!last_added_ || !same_page(*last_added_, wanted.key)) ++changes_.pages;
  last_added_ = &wanted.key;
}

// `held`: the session's hooks at the slot. Those that stay are kept as they are.
Status Commit::add(const SlotWants& wanted, HeldHooks held) {
  SessionHooks planned;
  planned.reserve(wanted.wants.size());
  for (const Want& want : wanted.wants) {
    auto hook = keep_or_make(want, held);
    if (!hook) return hook.error();
    const bool is_first = planned.empty() || !is_of_group(planned.back(), want);
    hook->hook.flags &= ~uint32_t{TC_FIRST_OF_GROUP};
    if (is_first) hook->hook.flags |= TC_FIRST_OF_GROUP;
    put_in_force(*hook);
    planned.push_back(std::move(*hook));
  }
  gone_.insert(gone_.end(), held.begin(), held.end());
  const Want& any = wanted.wants.front();
  std::shared_ptr<const ReturnPlan> returns;
  for (const Want& want : wanted.wants)
    if (want.site->returns && (!returns || want.site->returns->way == Way::exits))
      returns = want.site->returns;
  return put({.key = wanted.key,
              .object = any.part->object,
              .unmapped = any.part->unmapped,
              .nop5 = any.site->nop5,
              .cost = any.site->cost,
              .returns = std::move(returns)},
             std::move(planned));
}

Result<SessionHook> Commit::keep_or_make(const Want& want, HeldHooks& held) {
  const auto same = std::find_if(held.begin(), held.end(),
                                 [&](const SessionHook* one) { return stays(*one, want); });
  if (same != held.end()) {
    SessionHook kept = **same;
    kept.setting = want.part->setting;
    held.erase(same);
    return kept;
  }
  auto hook = hooks_.make(session_, want);
  if (!hook) return hook.error();
  made_.push_back(*hook);
  if (!want.saved) fresh_stats_.push_back(hook->stat);
  return SessionHook{.hook = *hook,
                     .probe = want.probe_name(),
                     .setting = want.part->setting,
                     .process = want.part->process,
                     .returns = want.site->returns,
                     .cost = want.site->cost,
                     .cgroup = want.part->cgroup};
}

Status Commit::put(const SlotSite& site, SessionHooks held) {
  std::vector<Hook> hooks;
  hooks.reserve(held.size());
  for (const SessionHook& one : held) hooks.push_back(one.hook);
  const auto slot = staging_.want(site, session_.id, hooks);
  if (!slot) return slot.error();
  next_.emplace(*slot, std::move(held));
  return ok();
}

// A gated hook is in force whether the session is paused or not. Hooks that learn the tags of threads are
// always in force, so that a session that is resumed knows the tags.
void Commit::put_in_force(SessionHook& held) const {
  const bool always = held.setting->spec.learns_tags;
  held.hook.paused = paused_ && !gated_ && !always;
  held.hook.flags &= ~uint32_t{TC_GATED};
  if (gated_ && !always) held.hook.flags |= TC_GATED;
}

void Commit::drop_unwanted() {
  for (const auto& [slot, held] : session_.hooks) {
    if (next_.contains(slot)) continue;
    ++changes_.removed;
    for (const SessionHook& one : held) gone_.push_back(&one);
    staging_.drop(slot, session_.id);
  }
}

// All hooks of a probe are left out together, so the others keep their places in their groups.
Status Commit::plan_leaving_out(const ProbeNames& probes) {
  const auto is_left_out = [&](const SessionHook& one) {
    return !one.setting->spec.learns_tags && probes.contains(*one.probe);
  };
  expect(session_.hooks.size(), 0);
  for (const auto& [slot, held] : session_.hooks) {
    SessionHooks rest = held;
    std::erase_if(rest, is_left_out);
    if (rest.empty()) continue;
    if (rest.size() == held.size()) {
      next_.emplace(slot, std::move(rest));
      continue;
    }
    ++changes_.updated;
    for (const SessionHook& one : held)
      if (is_left_out(one)) gone_.push_back(&one);
    if (auto done = put(slots_.by_id.at(slot), std::move(rest)); !done) return done;
  }
  drop_unwanted();
  return ok();
}

Status Commit::plan_fresh_counters(bool paused) {
  only_counters_ = true;
  paused_ = paused;
  size_t all = 0;
  for (const auto& [slot, held] : session_.hooks) all += held.size();
  expect(session_.hooks.size(), all);
  for (const auto& [slot, held] : session_.hooks) {
    SessionHooks planned;
    for (const SessionHook& old : held) {
      gone_.push_back(&old);
      auto renewed = renew(old);
      if (!renewed) return renewed.error();
      planned.push_back(std::move(*renewed));
    }
    if (auto done = put(slots_.by_id.at(slot), std::move(planned)); !done) return done;
  }
  return ok();
}

Result<SessionHook> Commit::renew(const SessionHook& old) {
  auto hook = hooks_.with_fresh_counters(old.hook);
  if (!hook) return hook.error();
  made_.push_back(*hook);
  fresh_stats_.push_back(hook->stat);
  SessionHook renewed = old;
  renewed.hook = *hook;
  put_in_force(renewed);
  return renewed;
}

Status Commit::plan_pause(bool paused) {
  paused_ = paused;
  expect(session_.hooks.size(), 0);
  for (const auto& [slot, held] : session_.hooks) {
    SessionHooks planned = held;
    for (SessionHook& one : planned) {
      put_in_force(one);
      // Returns during the pause were not seen, so a call that was open before it may have ended.
      if (!paused) hooks_.renew_serial(one.hook);
      if (!paused) Hooks::forget_starts(one.hook);
    }
    if (auto done = put(slots_.by_id.at(slot), std::move(planned)); !done) return done;
  }
  return ok();
}

// ---- after the switch ----

void Commit::retire() {
  long_work_.run([&] { booked_ = tracectl::retire(counters_, session_, gone_); });
}

void Commit::settle(uint64_t epoch) {
  // Counters that could not be booked are not reused: their counts are lost, and not counted for others.
  for (const SessionHook* held : gone_)
    if (booked_ || !held->hook.spec) discard(held->hook);
  made_.clear();
  for (auto& [slot, held] : next_)
    for (SessionHook& one : held)
      if (one.epoch == 0) one.epoch = epoch;
  session_.hooks = std::move(next_);
  session_.paused = paused_;
  session_.gated = gated_;
}

}  // namespace tracectl
