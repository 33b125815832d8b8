// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/trace/results.h"

#include <new>

namespace tracectl {
namespace {

using HooksByStat = std::unordered_map<uint32_t, const SessionHook*>;

bool counts_by_key(const SessionHook& held) {
  return held.hook.flags & (TC_COUNT_BY_PID | TC_COUNT_BY_TID);
}

void add_row(const SessionHook& held, uint64_t hits, Results& results) {
  if (!held.setting->spec.aggregates.empty() && !counts_by_key(held))
    results.rows[{*held.probe}] += hits;
}

// Adds the counts of these hooks; the keys that were theirs.
Result<std::vector<tc_key>> add_keys(const Kernel& kernel, const HooksByStat& hooks,
                                     Results& results) {
  std::vector<tc_key> theirs;
  if (hooks.empty()) return theirs;
  auto counts = kernel.read_counts();
  if (!counts) return counts.error();
  for (const KeyCount& count : *counts) {
    const auto held = hooks.find(count.key.stat);
    if (held == hooks.end()) continue;
    results.rows[{*held->second->probe, static_cast<pid_t>(count.key.pid),
                  static_cast<pid_t>(count.key.tid)}] += count.count;
    theirs.push_back(count.key);
  }
  return theirs;
}

void book(Kernel& kernel, const std::vector<const SessionHook*>& gone, Results& past) {
  HooksByStat keyed;
  for (const SessionHook* held : gone) {
    add_row(*held, kernel.read_stat(held->hook.stat).hits, past);
    if (counts_by_key(*held)) keyed.emplace(held->hook.stat, held);
  }
  if (auto theirs = add_keys(kernel, keyed, past)) kernel.delete_counts(*theirs);
}

}  // namespace

Result<Results> current_results(const Kernel& kernel, const Session& session) {
  Results results = session.past;
  HooksByStat keyed;
  for (const auto& [slot, hooks] : session.hooks)
    for (const SessionHook& held : hooks) {
      const tc_stat stat = kernel.read_stat(held.hook.stat);
      results.totals.add(stat);
      add_row(held, stat.hits, results);
      if (counts_by_key(held)) keyed.emplace(held.hook.stat, &held);
    }
  if (auto added = add_keys(kernel, keyed, results); !added) return added.error();
  return results;
}

Totals current_totals(const Kernel& kernel, const Session& session) {
  Totals totals = session.past.totals;
  for (const auto& [slot, hooks] : session.hooks)
    for (const SessionHook& held : hooks) totals.add(kernel.read_stat(held.hook.stat));
  return totals;
}

void retire(Kernel& kernel, Session& session, const std::vector<const SessionHook*>& gone) {
  for (const SessionHook* held : gone) session.past.totals.add(kernel.read_stat(held->hook.stat));
  try {
    book(kernel, gone, session.past);
  } catch (const std::bad_alloc&) {
    return;
  }
}

}  // namespace tracectl
