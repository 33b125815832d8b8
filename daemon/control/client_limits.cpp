// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/control/client_limits.h"

#include <algorithm>
#include <string>

namespace tracectl {
namespace {

constexpr size_t kMostOfUser = 64;  // connections of a user who may not trace every process
// The most memory that a subscription takes: a growing buffer exists twice.
constexpr size_t kSubscriptionBytes = 2 * ClientLimits::kStreamBytes;
// The most bytes of incomplete requests, and of answers not yet taken, of a user who may not trace every process.
// Requests beyond that are refused, so there can be one answer more.
constexpr size_t kMostWaitingBytes = 64 << 20;
// Streams at a time that may be long, because the sum of them is memory of the daemon that no quota counts.
constexpr size_t kMostLongStreams = 4;

}  // namespace

Status ClientLimits::check_connections(uid_t user, const std::optional<Owner>& owner,
                                       size_t let_go) const {
  if (!owner) return ok();
  const auto of_user = std::count_if(
      connections_.begin(), connections_.end(),
      [&](const ClientConnection& other) { return other.peer.owner && other.peer.uid == user; });
  if (static_cast<size_t>(of_user) + let_go < kMostOfUser) return ok();
  return Error{Code::exhausted, "user " + std::to_string(user) + " has " +
                                    std::to_string(kMostOfUser) + " connections already"};
}

// Sums over all connections of users who have a quota.
template <class Count> MemoryWanted ClientLimits::sum_with(const Peer& peer, Count bytes_of) const {
  MemoryWanted sum;
  for (const ClientConnection& other : connections_) {
    if (!other.peer.owner) continue;
    const size_t bytes = bytes_of(other);
    sum.of_all += bytes;
    if (other.peer.uid == peer.uid) sum.of_user += bytes;
  }
  return sum;
}

size_t ClientLimits::stream_bytes(const Peer& peer) const {
  size_t streams = 0;
  for (const ClientConnection& other : connections_)
    if (!other.peer.owner) streams += other.peer.subscriptions.size();
  return stream_bytes(peer, streams);
}

size_t ClientLimits::stream_bytes(const Peer& peer, size_t streams) {
  return !peer.owner && streams < kMostLongStreams ? kLongStreamBytes : kStreamBytes;
}

Status ClientLimits::check_streams(const Peer& peer) const {
  if (!peer.owner) return ok();
  MemoryWanted wanted = sum_with(peer, [](const ClientConnection& other) {
    return other.peer.subscriptions.size() * kSubscriptionBytes;
  });
  wanted.of_user += kSubscriptionBytes;
  wanted.of_all += kSubscriptionBytes;
  return quota_.check_memory("streams to clients", wanted, quota_.stream_bytes);
}

Status ClientLimits::check_requests(const Peer& peer) const {
  if (!peer.owner) return ok();
  const auto wanted = sum_with(peer, [](const ClientConnection& other) { return other.in.size(); });
  if (is_within(wanted)) return ok();
  return Error{Code::exhausted, "too many bytes of requests wait for their end: send whole ones"};
}

Status ClientLimits::check_answers(const Peer& peer) const {
  if (!peer.owner) return ok();
  const auto wanted = sum_with(peer, [](const ClientConnection& other) { return other.answers; });
  if (is_within(wanted)) return ok();
  return Error{Code::exhausted, "too many bytes of answers wait to be taken: read them first"};
}

Status ClientLimits::check_matches(const Peer& peer) const {
  if (!peer.owner) return ok();
  size_t sum = 0;
  for (const ClientConnection& other : connections_)
    if (other.peer.owner && other.peer.uid == peer.uid) sum += other.matches();
  const size_t most = quota_.matches;
  if (sum <= most) return ok();
  return Error{Code::exhausted, "more than " + std::to_string(most) +
                                    " sites match what the user's requests ask for that are not "
                                    "answered yet: wait for the answers (quota.matches in "
                                    "tracectld.json)"};
}

bool ClientLimits::is_within(const MemoryWanted& waiting) const {
  return waiting.of_user <= kMostWaitingBytes && waiting.of_all <= quota_.of_all(kMostWaitingBytes);
}

}  // namespace tracectl
