// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/trace/commit.h"

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
         held.setting->target == want.setting->target &&
         held.hook.tgid == (want.process ? want.process->pid() : 0);
}

bool stay(const SessionHooks& held, const Wants& wants) {
  return std::equal(held.begin(), held.end(), wants.begin(), wants.end(), stays);
}

}  // namespace

Changes compare(const Slots& slots, const Session& session, const Coverage& coverage) {
  Changes changes;
  for (const auto& [key, wants] : coverage.wants) {
    const SessionHooks* held = held_at(slots, session, key);
    if (!held)
      ++changes.added;
    else if (!stay(*held, wants))
      ++changes.updated;
  }
  for (const auto& [slot, held] : session.hooks)
    if (!coverage.wants.contains(slots.by_id.at(slot).key)) ++changes.removed;
  return changes;
}

Commit::~Commit() {
  for (const auto& [key, held] : made_) {
    if (only_counters_)
      hooks_.discard_counters(held.hook);
    else
      hooks_.discard(held.hook);
  }
}

Status Commit::plan(const Coverage& coverage) {
  for (const auto& [key, wants] : coverage.wants) {
    const SessionHooks* held = held_at(slots_, session_, key);
    if (held && stay(*held, wants)) {
      kept_.emplace(slots_.by_key.at(key), *held);
      continue;
    }
    if (held) gone_.insert(gone_.end(), held->begin(), held->end());
    if (auto added = add(key, wants); !added) return added;
  }
  drop_unwanted(coverage);
  return ok();
}

Status Commit::add(const SlotKey& key, const Wants& wants) {
  std::vector<Hook> hooks;
  const Want* before = nullptr;
  for (const Want& want : wants) {
    auto hook = hooks_.make(session_, want);
    if (!hook) return hook.error();
    if (!before || *before->probe != *want.probe) hook->flags |= TC_FIRST_OF_GROUP;
    before = &want;
    made_.emplace_back(key, SessionHook{*hook, want.probe, want.setting, want.process, 0});
    hooks.push_back(*hook);
  }
  const Want& any = wants.front();
  return staging_.want({key, any.object, any.unmapped}, session_.id, hooks);
}

void Commit::drop_unwanted(const Coverage& coverage) {
  for (const auto& [slot, held] : session_.hooks) {
    if (coverage.wants.contains(slots_.by_id.at(slot).key)) continue;
    gone_.insert(gone_.end(), held.begin(), held.end());
    staging_.drop(slot, session_.id);
  }
}

Status Commit::plan_fresh_counters() {
  only_counters_ = true;
  for (const auto& [slot, held] : session_.hooks)
    if (auto renewed = renew(slots_.by_id.at(slot), held); !renewed) return renewed;
  return ok();
}

Status Commit::renew(const Slot& slot, const SessionHooks& held) {
  std::vector<Hook> hooks;
  for (const SessionHook& old : held) {
    auto hook = hooks_.with_fresh_counters(old.hook);
    if (!hook) return hook.error();
    SessionHook renewed = old;
    renewed.hook = *hook;
    made_.emplace_back(slot.key, std::move(renewed));
    gone_.push_back(old);
    hooks.push_back(*hook);
  }
  return staging_.want(slot, session_.id, hooks);
}

uint64_t Commit::activate() {
  const uint64_t epoch = staging_.activate([&] { retire(kernel_, session_, gone_); });
  for (const SessionHook& held : gone_) {
    if (only_counters_)
      hooks_.discard_counters(held.hook);
    else
      hooks_.discard(held.hook);
  }
  for (auto& [key, held] : made_) {
    if (!only_counters_) held.epoch = epoch;
    kept_[slots_.by_key.at(key)].push_back(std::move(held));
  }
  made_.clear();
  session_.hooks = std::move(kept_);
  return epoch;
}

}  // namespace tracectl
