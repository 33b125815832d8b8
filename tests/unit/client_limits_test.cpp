// SPDX-License-Identifier: BSD-2-Clause
//
// How much may wait for the streams of peers.
#include "daemon/control/client_limits.h"

#include <gtest/gtest.h>

#include "daemon/stream/client_stream.h"

using namespace tracectl;

TEST(ClientLimits, OnlyAFewStreamsOfPeersWhoMayTraceAllAreLong) {
  const Peer root;
  for (const size_t streams : {0u, 3u})
    EXPECT_EQ(ClientLimits::stream_bytes(root, streams), ClientLimits::kLongStreamBytes);
  for (const size_t streams : {4u, 100u})
    EXPECT_EQ(ClientLimits::stream_bytes(root, streams), ClientLimits::kStreamBytes);
}

TEST(ClientLimits, StreamsOfOtherUsersAreShort) {
  Peer user;
  user.owner = Owner{.uid = 7};
  EXPECT_EQ(ClientLimits::stream_bytes(user, 0), ClientLimits::kStreamBytes);
}

TEST(ClientLimits, StreamsCountOfPeersWhoMayTraceAllAlone) {
  Connections connections;
  const Quota quota;
  const ClientLimits limits{connections, quota};
  const auto add_stream = [&](std::optional<Owner> owner) {
    ClientConnection& added = connections.emplace_back();
    added.peer.owner = std::move(owner);
    added.peer.subscriptions.emplace(
        "s", std::make_shared<ClientStream>("s", false, ClientLimits::kStreamBytes, [] {}));
  };
  for (int streams = 0; streams < 8; ++streams) add_stream(Owner{.uid = 7});
  for (int streams = 0; streams < 4; ++streams) {
    EXPECT_EQ(limits.stream_bytes({}), ClientLimits::kLongStreamBytes) << streams;
    add_stream(std::nullopt);
  }
  EXPECT_EQ(limits.stream_bytes({}), ClientLimits::kStreamBytes);
  connections.pop_back();
  EXPECT_EQ(limits.stream_bytes({}), ClientLimits::kLongStreamBytes);
}
