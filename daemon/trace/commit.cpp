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
  for (const Planned& planned : planned_) {
    if (!planned.is_new) continue;
    if (only_counters_)
      hooks_.discard_counters(planned.held.hook);
    else
      hooks_.discard(planned.held.hook);
  }
}

Status Commit::plan(const Coverage& coverage) {
  for (const auto& [key, wants] : coverage.wants) {
    const SessionHooks* held = held_at(slots_, session_, key);
    if (held && stay(*held, wants)) {
      kept_.emplace(slots_.by_key.at(key), *held);
      continue;
    }
    if (auto added = add(key, wants, held ? *held : SessionHooks{}); !added) return added;
  }
  drop_unwanted(coverage);
  return ok();
}

// Of the hooks that are held at the slot those that stay go on as they are.
Status Commit::add(const SlotKey& key, const Wants& wants, SessionHooks held) {
  std::vector<Hook> hooks;
  const Want* before = nullptr;
  for (const Want& want : wants) {
    if (auto planned = keep_or_make(key, want, held); !planned) return planned;
    Hook& hook = planned_.back().held.hook;
    const bool is_first = !before || *before->probe != *want.probe;
    hook.flags &= ~uint32_t{TC_FIRST_OF_GROUP};
    if (is_first) hook.flags |= TC_FIRST_OF_GROUP;
    hooks.push_back(hook);
    before = &want;
  }
  gone_.insert(gone_.end(), held.begin(), held.end());
  const Want& any = wants.front();
  return staging_.want({key, any.object, any.unmapped}, session_.id, hooks);
}

Status Commit::keep_or_make(const SlotKey& key, const Want& want, SessionHooks& held) {
  const auto same = std::find_if(held.begin(), held.end(),
                                 [&](const SessionHook& one) { return stays(one, want); });
  if (same != held.end()) {
    planned_.push_back({key, std::move(*same), false});
    held.erase(same);
    return ok();
  }
  auto hook = hooks_.make(session_, want);
  if (!hook) return hook.error();
  planned_.push_back({key, {*hook, want.probe, want.setting, want.process, 0}, true});
  return ok();
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
    planned_.push_back({slot.key, std::move(renewed), true});
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
  for (Planned& planned : planned_) {
    if (planned.is_new && !only_counters_) planned.held.epoch = epoch;
    kept_[slots_.by_key.at(planned.key)].push_back(std::move(planned.held));
  }
  planned_.clear();
  session_.hooks = std::move(kept_);
  return epoch;
}

}  // namespace tracectl
