// SPDX-License-Identifier: BSD-2-Clause
//
// How much may wait for the streams of peers.
#include "daemon/control/client_limits.h"

#include <gtest/gtest.h>

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
