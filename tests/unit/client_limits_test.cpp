// SPDX-License-Identifier: BSD-2-Clause
//
// How much may wait for the streams of peers.
#include "daemon/control/client_limits.h"

#include <gtest/gtest.h>

#include "daemon/stream/client_stream.h"

using namespace tracectl;

namespace {

class ClientLimitsTest : public ::testing::Test {
 protected:
  // One more connection with a stream; of a user who may trace every process, or of user 7.
  void add_stream(bool may_trace_all) {
    Connection& added = connections_.emplace_back();
    if (!may_trace_all) added.peer.owner = Owner{.uid = 7};
    added.peer.subscriptions.emplace(
        "s", std::make_shared<ClientStream>("s", false, ClientLimits::kStreamBytes, [] {}));
  }

  Connections connections_;
  Quota quota_;
  ClientLimits limits_{connections_, quota_};
  Peer root_;
};

}  // namespace

TEST_F(ClientLimitsTest, TheFirstStreamsOfPeersWhoMayTraceAllAreLong) {
  for (int streams = 0; streams < 4; ++streams) {
    EXPECT_EQ(limits_.stream_bytes(root_), ClientLimits::kLongStreamBytes) << streams;
    add_stream(true);
  }
  EXPECT_EQ(limits_.stream_bytes(root_), ClientLimits::kStreamBytes);
  connections_.pop_back();
  EXPECT_EQ(limits_.stream_bytes(root_), ClientLimits::kLongStreamBytes);
}

TEST_F(ClientLimitsTest, StreamsOfOtherUsersAreShortAndCountForNobodyElse) {
  for (int streams = 0; streams < 8; ++streams) add_stream(false);
  EXPECT_EQ(limits_.stream_bytes(connections_.front().peer), ClientLimits::kStreamBytes);
  EXPECT_EQ(limits_.stream_bytes(root_), ClientLimits::kLongStreamBytes);
}
