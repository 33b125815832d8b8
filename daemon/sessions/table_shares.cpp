// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/sessions/table_shares.h"

#include <algorithm>
#include <array>
#include <bitset>

#include "daemon/model/shares.h"

namespace tracectl {
namespace {

using UsedByAccount = std::array<uint32_t, TC_MAX_ACCOUNTS>;

struct Table {
  const char* of;
  uint32_t places;
};
constexpr Table kSessions{"sessions", TC_MAX_SESSIONS};
// Each site has a place for one hook, and there are as many places for further hooks. There are twice as many
// counters, so that all can be read and zeroed.
constexpr Table kHooks{"hooks", std::min(TC_MAX_SLOTS, TC_MAX_HOOKS) - 1};
constexpr Table kSides{"hooks of pairs", TC_MAX_PAIR_HOOKS};
constexpr Table kSpecs{"specs", TC_MAX_SPECS - 1};
constexpr Table kLayouts{"forms of arguments", TC_MAX_LAYOUTS - 1};
constexpr Table kSets{"sets of processes", TC_MAX_SET_TARGETS};

struct Used {
  UsedByAccount hooks{}, sides{}, specs{}, layouts{}, sets{};
};

// Adds what one session uses. It shares its specs with no other; a form of arguments that several use counts
// for each.
void add(const Session& session, const std::unordered_map<SlotId, SessionHooks>& by_slot,
         Used& used) {
  std::bitset<TC_MAX_SPECS> specs;
  std::bitset<TC_MAX_LAYOUTS> layouts;
  std::bitset<TC_MAX_SET_TARGETS + 1> sets;
  for (const auto& [slot, hooks] : by_slot) {
    used.hooks[session.account] += static_cast<uint32_t>(hooks.size());
    for (const SessionHook& held : hooks) {
      used.sides[session.account] += held.hook.pair ? 1 : 0;
      if (held.hook.spec) specs.set(held.hook.spec->place());
      if (held.hook.layout) layouts.set(held.hook.layout->place());
      if (held.hook.set_target) sets.set(held.hook.set_target);
    }
  }
  for (const auto& [path, set] : session.cgroup_sets) sets.set(set);
  for (const auto& [file, set] : session.awaited.executable_sets) sets.set(set);
  used.specs[session.account] += static_cast<uint32_t>(specs.count());
  used.layouts[session.account] += static_cast<uint32_t>(layouts.count());
  used.sets[session.account] += static_cast<uint32_t>(sets.count());
}

uint32_t share_of(const Shares& shares, uint32_t account) {
  return account ? shares.of_user : shares.of_root;
}

// Whether the account has no more than its share, or all that accounts have beyond their shares fits into the rest.
bool fits(const Shares& shares, const UsedByAccount& used, uint32_t account) {
  if (used[account] <= share_of(shares, account)) return true;
  uint64_t of_rest = 0;
  for (uint32_t one = 0; one < TC_MAX_ACCOUNTS; ++one)
    if (used[one] > share_of(shares, one)) of_rest += used[one] - share_of(shares, one);
  return of_rest <= shares.rest;
}

Error no_room(const Table& table, const Shares& shares, uint32_t account, const char* field) {
  const std::string who = account ? "a user has " : "root and the group have ";
  return Error{Code::exhausted,
               "no more " + std::string(table.of) + " fit: " + who +
                   std::to_string(share_of(shares, account)) + " of " +
                   std::to_string(table.places) + ", and the unused part of another " +
                   std::to_string(shares.rest) +
                   " (quota.most-users in tracectld.json): delete some",
               field};
}

Status check(const Table& table, const UsedByAccount& before, const UsedByAccount& after,
             uint32_t account, uint32_t users) {
  const Shares shares = Shares::of(table.places, users);
  if (after[account] <= before[account] || fits(shares, after, account)) return ok();
  return no_room(table, shares, account, "session");
}

}  // namespace

Status check_share_of_sessions(const Sessions& sessions, uint32_t account, uint32_t users) {
  UsedByAccount used{};
  for (const auto& [name, session] : sessions) ++used[session.account];
  ++used[account];
  const Shares shares = Shares::of(kSessions.places, users);
  if (fits(shares, used, account)) return ok();
  return no_room(kSessions, shares, account, "name");
}

Status check_shares(const Sessions& sessions, const Switch& change, uint32_t users) {
  Used before, after;
  for (const auto& [name, session] : sessions) {
    const Commit* commit = change.commit_of(session);
    add(session, session.hooks, before);
    add(session, commit ? commit->hooks() : session.hooks, after);
  }
  for (const auto& [name, session] : sessions) {
    if (!change.commit_of(session)) continue;
    const uint32_t account = session.account;
    for (const Status& within : {check(kHooks, before.hooks, after.hooks, account, users),
                                 check(kSides, before.sides, after.sides, account, users),
                                 check(kSpecs, before.specs, after.specs, account, users),
                                 check(kLayouts, before.layouts, after.layouts, account, users),
                                 check(kSets, before.sets, after.sets, account, users)})
      if (!within) return within;
  }
  return ok();
}

}  // namespace tracectl
