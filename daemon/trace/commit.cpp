// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/trace/commit.h"

namespace tracectl {
namespace {

const SessionHook* held_at(const Slots& slots, const Session& session, const SlotKey& key) {
  const auto slot = slots.by_key.find(key);
  if (slot == slots.by_key.end()) return nullptr;
  const auto held = session.hooks.find(slot->second);
  return held == session.hooks.end() ? nullptr : &held->second;
}

bool stays(const SessionHook& held, const Want& want) {
  return *held.probe == *want.probe && held.setting->spec == want.setting->spec &&
         held.setting->target == want.setting->target;
}

}  // namespace

Changes compare(const Slots& slots, const Session& session, const Coverage& coverage) {
  Changes changes;
  for (const auto& [key, want] : coverage.wants) {
    const SessionHook* held = held_at(slots, session, key);
    if (!held)
      ++changes.added;
    else if (!stays(*held, want))
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
  for (const auto& [key, want] : coverage.wants) {
    const SessionHook* held = held_at(slots_, session_, key);
    if (held && stays(*held, want)) {
      kept_.emplace(slots_.by_key.at(key), *held);
      continue;
    }
    if (held) gone_.push_back(*held);
    if (auto added = add(key, want); !added) return added;
  }
  drop_unwanted(coverage);
  return ok();
}

Status Commit::add(const SlotKey& key, const Want& want) {
  auto hook = hooks_.make(session_, want);
  if (!hook) return hook.error();
  made_.emplace_back(key, SessionHook{*hook, want.probe, want.setting, want.process, 0});
  return staging_.want(key, want.object, *hook);
}

void Commit::drop_unwanted(const Coverage& coverage) {
  for (const auto& [slot, held] : session_.hooks) {
    if (coverage.wants.contains(slots_.by_id.at(slot).key)) continue;
    gone_.push_back(held);
    staging_.drop(slot, session_.id);
  }
}

Status Commit::plan_fresh_counters() {
  only_counters_ = true;
  for (const auto& [slot, held] : session_.hooks) {
    auto hook = hooks_.with_fresh_counters(held.hook);
    if (!hook) return hook.error();
    const Slot& at = slots_.by_id.at(slot);
    SessionHook renewed = held;
    renewed.hook = *hook;
    made_.emplace_back(at.key, std::move(renewed));
    gone_.push_back(held);
    if (auto wanted = staging_.want(at.key, at.object, *hook); !wanted) return wanted;
  }
  return ok();
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
    kept_.insert_or_assign(slots_.by_key.at(key), std::move(held));
  }
  made_.clear();
  session_.hooks = std::move(kept_);
  return epoch;
}

}  // namespace tracectl
