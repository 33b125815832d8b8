// SPDX-License-Identifier: BSD-2-Clause
//
// What one user may have in all its sessions, who may not trace every process.
#include <algorithm>

#include "daemon/trace/engine.h"

namespace tracectl {
namespace {

Error over_quota(size_t most, const std::string& of, const std::string& field) {
  return Error{Code::exhausted,
               "a user may have " + std::to_string(most) + " " + of +
                   ": delete some, or ask for more (quota in tracectld.json)",
               field};
}

// Of two drafts that follow each other the greater counts: both are kept until the commit.
size_t settings_of(const Session& session) {
  return std::max(session.settings.size(), session.draft ? session.draft->size() : 0);
}

bool is_of(const Session& session, uid_t user) {
  return session.access.owner && session.access.owner->uid == user;
}

}  // namespace

template <class Count>
size_t Engine::sum_of_user(uid_t user, const Session* but, Count count) const {
  size_t sum = 0;
  for (const auto& [name, session] : sessions_)
    if (is_of(session, user) && &session != but) sum += count(session);
  return sum;
}

Status Engine::check_sessions(const std::optional<Owner>& owner) const {
  if (!owner) return ok();
  const size_t there = sum_of_user(owner->uid, nullptr, [](const Session&) { return 1; });
  if (there < options_.quota.sessions) return ok();
  return over_quota(options_.quota.sessions, "sessions", "name");
}

Status Engine::check_settings(const Session& session, size_t settings) const {
  if (!session.access.owner) return ok();
  const size_t others = sum_of_user(session.access.owner->uid, &session, settings_of);
  if (others + settings <= options_.quota.settings) return ok();
  return over_quota(options_.quota.settings, "settings in all sessions", "patterns");
}

// Of commits that are to take force together: each may be within the quota where their sum is not.
Status Engine::check_sites(std::span<const Intent> intents) const {
  const auto sites_then = [&](const Session& session) {
    for (const Intent& intent : intents)
      if (intent.session == &session) return intent.coverage.wants.size();
    return session.hooks.size();
  };
  for (const Intent& intent : intents) {
    const auto& owner = intent.session->access.owner;
    if (owner && sum_of_user(owner->uid, nullptr, sites_then) > options_.quota.sites)
      return over_quota(options_.quota.sites, "sites in all sessions", "session");
  }
  return ok();
}

Status Engine::check_rings(const Session& session) const {
  if (!session.access.owner) return ok();
  const size_t each = options_.ring_bytes * kernel_->cpu_count();
  const MemoryWanted wanted = rings_wanted(session);
  if (wanted.of_user > options_.quota.ring_bytes)
    return over_quota(options_.quota.ring_bytes / each, "sessions with events", "session");
  return options_.quota.check_memory("rings of events", wanted, options_.quota.ring_bytes);
}

// With those of this one, which has none.
MemoryWanted Engine::rings_wanted(const Session& session) const {
  const size_t each = options_.ring_bytes * kernel_->cpu_count();
  MemoryWanted wanted{each, each};
  for (const auto& [name, other] : sessions_) {
    if (!other.has_rings || !other.access.owner) continue;
    wanted.of_all += each;
    if (is_of(other, session.access.owner->uid)) wanted.of_user += each;
  }
  return wanted;
}

// One for all its sessions, given back with the last.
Result<uint32_t> Engine::take_account(const std::optional<Owner>& owner) {
  if (!owner) return uint32_t{0};
  for (const auto& [name, session] : sessions_)
    if (is_of(session, owner->uid)) return session.account;
  const auto number = account_ids_.take();
  if (!number)
    return Error{Code::exhausted, "there are sessions of " + std::to_string(account_ids_.used()) +
                                      " users, no more fit"};
  kernel_->begin_account(*number, options_.quota.events_per_second);
  return *number;
}

// Of a session that is gone already.
void Engine::give_back_account(uint32_t account) {
  const bool is_used = std::any_of(sessions_.begin(), sessions_.end(), [&](const auto& entry) {
    return entry.second.account == account;
  });
  if (account && !is_used) account_ids_.give_back(account);
}

}  // namespace tracectl
