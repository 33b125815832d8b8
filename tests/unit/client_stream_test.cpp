// SPDX-License-Identifier: BSD-2-Clause
//
// The amount that waits for a client that does not read.
#include "daemon/stream/client_stream.h"

#include <gtest/gtest.h>

using namespace tracectl;

namespace {

constexpr size_t kLimitBytes = 10'000;

class ClientStreamTest : public ::testing::Test {
 protected:
  // More than fits.
  void flood() {
    const std::vector<StreamItem> items(1000, Lost{.ts_ns = 1, .count = 1, .cpu = 0});
    stream_.take(items);
  }
  size_t drained() {
    const size_t before = out_.size();
    stream_.drain(out_);
    return out_.size() - before;
  }

  ClientStream stream_{"s", false, kLimitBytes, [] {}};
  std::string out_;
};

}  // namespace

TEST_F(ClientStreamTest, WhatTheClientHasNotTakenCountsAfterItWasDrained) {
  constexpr size_t kLongestLine = 200;
  flood();
  EXPECT_GE(drained(), kLimitBytes);
  flood();
  EXPECT_LE(drained(), 2 * kLongestLine) << "no more than how many were lost";
  EXPECT_LE(out_.size(), kLimitBytes + 3 * kLongestLine);
}

TEST_F(ClientStreamTest, WhatTheClientHasTakenMakesRoom) {
  flood();
  drained();
  stream_.set_unsent(kLimitBytes / 2);
  flood();
  const size_t half = drained();
  EXPECT_GT(half, kLimitBytes / 3);
  EXPECT_LT(half, kLimitBytes);
  stream_.set_unsent(0);
  flood();
  EXPECT_GE(drained(), kLimitBytes);
}
