// SPDX-License-Identifier: BSD-2-Clause
//
// What waits to be sent to a client.
#include "daemon/control/connection.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "daemon/stream/client_stream.h"

using namespace tracectl;

namespace {

constexpr size_t kStreamBytes = 8 << 20;
constexpr size_t kMoreThanFit = 100'000;  // reports of losses

size_t sum_of_losses(const std::string& lines) {
  std::istringstream all(lines);
  size_t sum = 0;
  for (std::string line; std::getline(all, line);)
    sum += nlohmann::json::parse(line).at("params").at("count").get<size_t>();
  return sum;
}

class UnsentTest : public ::testing::Test {
 protected:
  void SetUp() override {
    int ends[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    connection_.socket = Fd{ends[0]};
    client_ = Fd{ends[1]};
    connection_.peer.subscriptions.emplace("s", stream_);
  }
  void lose(size_t reports) {
    const std::vector<StreamItem> items(reports, Lost{.ts_ns = 1, .count = 1, .cpu = 0});
    stream_->take(items);
  }
  void read_some() {
    std::string buffer(64 << 10, '\0');
    ASSERT_GT(::recv(client_.get(), buffer.data(), buffer.size(), MSG_DONTWAIT), 0);
  }

  std::shared_ptr<ClientStream> stream_ =
      std::make_shared<ClientStream>("s", false, kStreamBytes, [] {});
  ClientConnection connection_;
  Fd client_;
  ServerCounts counts_;
};

}  // namespace

TEST_F(UnsentTest, WhatWasSentToAClientThatIsAlwaysBehindIsForgotten) {
  lose(kMoreThanFit);
  for (int round = 0; round < 1000; ++round) {
    lose(1000);
    if (!connection_.is_full()) connection_.take_events(counts_);
    connection_.send();
    ASSERT_LE(connection_.out.size(), 4 * ClientConnection::kMostUnsentBytes) << round;
    read_some();
  }
  EXPECT_EQ(connection_.unsent_lines().front(), '{');
}

TEST_F(UnsentTest, AnAnswerWaitsForOnePieceOfEventsAtMost) {
  lose(kMoreThanFit);
  connection_.take_events(counts_);
  connection_.put({.line = "an answer\n", .refused = false}, counts_);
  EXPECT_TRUE(connection_.out.ends_with("an answer\n"));
  EXPECT_LT(connection_.out.size(), kStreamBytes / 4);
  EXPECT_TRUE(connection_.has_to_send());
}

TEST_F(UnsentTest, AllEventsIncludeHowManyWereLost) {
  lose(kMoreThanFit);
  connection_.take_all_events(counts_);
  EXPECT_GE(connection_.out.size(), kStreamBytes);
  EXPECT_EQ(sum_of_losses(connection_.out), kMoreThanFit);
  lose(1);
  connection_.out.clear();
  EXPECT_TRUE(connection_.has_to_send()) << "the loss";
}
