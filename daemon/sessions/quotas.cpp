// SPDX-License-Identifier: BSD-2-Clause
//
// Bounds on all sessions of one user who may not trace every process.
#include "daemon/sessions/quotas.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "daemon/sessions/table_shares.h"

namespace tracectl {
namespace {

Error over_quota(size_t most, const std::string& of, const std::string& field) {
  return Error{Code::exhausted,
               "a user may have " + std::to_string(most) + " " + of +
                   ": delete some, or ask for more (quota in tracectld.json)",
               field};
}

// The greater of the settings in force and the draft counts: both are kept until the commit.
size_t settings_of(const Session& session) {
  return std::max(session.settings.size(), session.draft ? session.draft->size() : 0);
}

bool is_of(const Session& session, uid_t user) {
  return session.access.owner && session.access.owner->uid == user;
}

using SetsByUser = std::map<uid_t, size_t>;

// How many sessions of each user have rings, with one more of this user.
SetsByUser sets_of_rings(const Sessions& sessions, uid_t user) {
  SetsByUser sets;
  ++sets[user];
  for (const auto& [name, session] : sessions)
    if (session.has_rings && session.access.owner) ++sets[session.access.owner->uid];
  return sets;
}

// Half of the sets that all users together may have is divided among the users who may have sessions. The rest
// goes to those who come first.
Status check_share_of_rings(const SetsByUser& sets, uid_t user, const Quota& quota, size_t each) {
  const size_t places = quota.of_all(quota.ring_bytes) / each;
  const size_t share = quota.most_users ? places / 2 / quota.most_users : 0;
  if (sets.at(user) <= share) return ok();
  size_t beyond = 0;
  for (const auto& [one, count] : sets) beyond += count - std::min(count, share);
  if (beyond <= places - share * quota.most_users) return ok();
  return Error{Code::exhausted,
               "no more rings of events fit: a user has " + std::to_string(share) +
                   " sessions with events of " + std::to_string(places) +
                   ", and the unused part of the rest (quota.most-users in tracectld.json): "
                   "delete some",
               "session"};
}

}  // namespace

Quotas::Quotas(Switching& switching, SessionRows& rows, unsigned cpu_count, Slots& slots,
               const Sessions& sessions, const Saving& saving, const Quota& quota,
               size_t ring_bytes)
    : switching_(switching),
      rows_(rows),
      cpu_count_(cpu_count),
      slots_(slots),
      sessions_(sessions),
      saving_(saving),
      quota_(quota),
      ring_bytes_(ring_bytes) {}

template <class Count>
size_t Quotas::sum_of_user(uid_t user, const Session* but, Count count) const {
  size_t sum = 0;
  for (const auto& [name, session] : sessions_)
    if (is_of(session, user) && &session != but) sum += count(session);
  return sum;
}

Status Quotas::check_sessions(const std::optional<Owner>& owner) const {
  if (!owner) return ok();
  const size_t there = sum_of_user(owner->uid, nullptr, [](const Session&) { return 1; });
  if (there < quota_.sessions) return ok();
  return over_quota(quota_.sessions, "sessions", "name");
}

Status Quotas::check_settings(const Session& session, size_t settings) const {
  if (!session.access.owner) return ok();
  const size_t others = sum_of_user(session.access.owner->uid, &session, settings_of);
  if (others + settings <= quota_.settings) return ok();
  return over_quota(quota_.settings, "settings in all sessions", "patterns");
}

Status Quotas::check_sites(std::span<const Intent> intents) const {
  const auto sites_then = [&](const Session& session) {
    for (const Intent& intent : intents)
      if (intent.session == &session) return intent.coverage.wants.size();
    return session.hooks.size();
  };
  for (const Intent& intent : intents) {
    const auto& owner = intent.session->access.owner;
    if (owner && sum_of_user(owner->uid, nullptr, sites_then) > quota_.sites)
      return over_quota(quota_.sites, "sites in all sessions", "session");
  }
  return ok();
}

Status Quotas::check_rings(const Session& session) const {
  if (!session.access.owner) return ok();
  const size_t each = ring_bytes_ * cpu_count_;
  const MemoryWanted wanted = rings_wanted(session);
  if (wanted.of_user > quota_.ring_bytes)
    return over_quota(quota_.ring_bytes / each, "sessions with events", "session");
  if (auto within = quota_.check_memory("rings of events", wanted, quota_.ring_bytes); !within)
    return within;
  return check_share_of_rings(sets_of_rings(sessions_, session.access.owner->uid),
                              session.access.owner->uid, quota_, each);
}

// Includes the rings of this session, which has none yet.
MemoryWanted Quotas::rings_wanted(const Session& session) const {
  const size_t each = ring_bytes_ * cpu_count_;
  MemoryWanted wanted{each, each};
  for (const auto& [name, other] : sessions_) {
    if (!other.has_rings || !other.access.owner) continue;
    wanted.of_all += each;
    if (is_of(other, session.access.owner->uid)) wanted.of_user += each;
  }
  return wanted;
}

// The number of descriptors that outlive the daemon for the user's sessions, after the switch or now: links, the
// descriptors beside them, rings and files. A link that also serves others counts whole.
size_t Quotas::saved_of_user(uid_t user, const Switch* change) const {
  const Staging as_it_is(switching_, slots_);
  const Staging& staging = change ? change->staging() : as_it_is;
  std::set<uint32_t> links;
  size_t sum = 0;
  for (const auto& [name, session] : sessions_) {
    if (!session.saved || !is_of(session, user)) continue;
    const Commit* commit = change ? change->commit_of(session) : nullptr;
    for (const auto& [slot, held] : commit ? commit->hooks() : session.hooks)
      links.insert(staging.link_of(slot));
    sum += session.access.files.all().size() + (session.has_rings ? cpu_count_ : 0);
  }
  for (const uint32_t link : links) sum += 1 + staging.link(link).beside().size();
  return sum;
}

Status Quotas::check_saved(const Switch& change) const {
  if (!saving_.is_on()) return ok();
  std::set<uid_t> users;
  for (const auto& [name, session] : sessions_)
    if (session.saved && session.access.owner && change.commit_of(session))
      users.insert(session.access.owner->uid);
  for (const uid_t user : users)
    if (saved_of_user(user, &change) > quota_.kept)
      return over_quota(quota_.kept, "descriptors of saved sessions", "session");
  return ok();
}

Status Quotas::check_saved_file(const Session& session) const {
  if (!saving_.is_on() || !session.saved || !session.access.owner) return ok();
  if (saved_of_user(session.access.owner->uid, nullptr) < quota_.kept) return ok();
  return over_quota(quota_.kept, "descriptors of saved sessions", "files");
}

Status Quotas::check_share_of_sessions(uint32_t account) const {
  return tracectl::check_share_of_sessions(sessions_, account,
                                           static_cast<uint32_t>(quota_.most_users));
}

Status Quotas::check_shares(const Switch& change) const {
  return tracectl::check_shares(sessions_, change, static_cast<uint32_t>(quota_.most_users));
}

// A former daemon may have admitted more users than this one does.
void Quotas::share_out() {
  const size_t users = std::max<size_t>(quota_.most_users, accounts_.used());
  rows_.share_out(static_cast<uint32_t>(std::min<size_t>(users, TC_MAX_ACCOUNTS - 1)));
}

Result<uint32_t> Quotas::take_account(const std::optional<Owner>& owner) {
  if (!owner) return uint32_t{0};
  for (const auto& [name, session] : sessions_)
    if (is_of(session, owner->uid)) return session.account;
  const size_t most = quota_.most_users;
  const auto number = accounts_.used() < most ? accounts_.take() : std::optional<uint32_t>{};
  if (!number)
    return Error{Code::exhausted,
                 "there are sessions of " + std::to_string(accounts_.used()) +
                     " other users, and no more than " + std::to_string(most) +
                     " have a share of the tables (quota.most-users in tracectld.json)"};
  rows_.begin_account(*number, quota_.events_per_second);
  return *number;
}

void Quotas::give_back_account(uint32_t account) {
  const bool is_used = std::any_of(sessions_.begin(), sessions_.end(), [&](const auto& entry) {
    return entry.second.account == account;
  });
  if (account && !is_used) accounts_.give_back(account);
}

}  // namespace tracectl
