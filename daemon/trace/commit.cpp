// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/trace/commit.h"

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
  return *held.probe == *want.probe && held.setting->spec == want.setting->spec &&
         held.setting->target == want.setting->target && same_process(held.process, want.process);
}

bool stay(const SessionHooks& held, const Wants& wants) {
  return std::equal(held.begin(), held.end(), wants.begin(), wants.end(), stays);
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

// ---- what shall be ----

Status Commit::plan(const Coverage& coverage) {
  size_t at_most = 0;
  for (const auto& [key, wants] : coverage.wants) at_most += wants.size();
  made_.reserve(at_most);
  for (const auto& [key, wants] : coverage.wants) {
    const SessionHooks* held = held_at(slots_, session_, key);
    if (held && stay(*held, wants)) {
      next_.emplace(slots_.by_key.at(key), *held);
      continue;
    }
    ++(held ? changes_.updated : changes_.added);
    if (auto added = add(key, wants, held ? *held : SessionHooks{}); !added) return added;
  }
  drop_unwanted(coverage);
  return ok();
}

// Of the hooks that are held at the slot those that stay go on as they are.
Status Commit::add(const SlotKey& key, const Wants& wants, SessionHooks held) {
  SessionHooks planned;
  for (const Want& want : wants) {
    auto hook = keep_or_make(want, held);
    if (!hook) return hook.error();
    const bool is_first = planned.empty() || *planned.back().probe != *want.probe;
    hook->hook.flags &= ~uint32_t{TC_FIRST_OF_GROUP};
    if (is_first) hook->hook.flags |= TC_FIRST_OF_GROUP;
    planned.push_back(std::move(*hook));
  }
  gone_.insert(gone_.end(), held.begin(), held.end());
  const Want& any = wants.front();
  return put({key, any.object, any.unmapped, any.nop5}, std::move(planned));
}

Result<SessionHook> Commit::keep_or_make(const Want& want, SessionHooks& held) {
  const auto same = std::find_if(held.begin(), held.end(),
                                 [&](const SessionHook& one) { return stays(one, want); });
  if (same != held.end()) {
    SessionHook kept = std::move(*same);
    held.erase(same);
    return kept;
  }
  auto hook = hooks_.make(session_, want);
  if (!hook) return hook.error();
  made_.push_back(*hook);
  hook->paused = paused_;
  return SessionHook{*hook, want.probe, want.setting, want.process, 0};
}

Status Commit::put(const SlotSite& site, SessionHooks held) {
  std::vector<Hook> hooks;
  for (const SessionHook& one : held) hooks.push_back(one.hook);
  const auto slot = staging_.want(site, session_.id, hooks);
  if (!slot) return slot.error();
  next_.emplace(*slot, std::move(held));
  return ok();
}

void Commit::drop_unwanted(const Coverage& coverage) {
  for (const auto& [slot, held] : session_.hooks) {
    if (coverage.wants.contains(slots_.by_id.at(slot).key)) continue;
    ++changes_.removed;
    gone_.insert(gone_.end(), held.begin(), held.end());
    staging_.drop(slot, session_.id);
  }
}

Status Commit::plan_fresh_counters(bool paused) {
  only_counters_ = true;
  paused_ = paused;
  size_t all = 0;
  for (const auto& [slot, held] : session_.hooks) all += held.size();
  made_.reserve(all);
  for (const auto& [slot, held] : session_.hooks) {
    SessionHooks planned;
    for (const SessionHook& old : held) {
      auto renewed = renew(old, paused);
      if (!renewed) return renewed.error();
      planned.push_back(std::move(*renewed));
    }
    gone_.insert(gone_.end(), held.begin(), held.end());
    if (auto done = put(slots_.by_id.at(slot), std::move(planned)); !done) return done;
  }
  return ok();
}

Result<SessionHook> Commit::renew(const SessionHook& old, bool paused) {
  auto hook = hooks_.with_fresh_counters(old.hook);
  if (!hook) return hook.error();
  made_.push_back(*hook);
  SessionHook renewed = old;
  renewed.hook = *hook;
  renewed.hook.paused = paused;
  return renewed;
}

Status Commit::plan_pause(bool paused) {
  paused_ = paused;
  for (const auto& [slot, held] : session_.hooks) {
    SessionHooks planned = held;
    for (SessionHook& one : planned) one.hook.paused = paused;
    if (auto done = put(slots_.by_id.at(slot), std::move(planned)); !done) return done;
  }
  return ok();
}

// ---- after the switch ----

void Commit::retire() { tracectl::retire(kernel_, session_, gone_); }

void Commit::settle(uint64_t epoch) {
  for (const SessionHook& held : gone_) discard(held.hook);
  made_.clear();
  for (auto& [slot, held] : next_)
    for (SessionHook& one : held)
      if (one.epoch == 0) one.epoch = epoch;
  session_.hooks = std::move(next_);
  session_.paused = paused_;
}

}  // namespace tracectl
