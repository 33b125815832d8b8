// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/kernel/nop_trial.h"

#include <gtest/gtest.h>

using namespace tracectl;

namespace {

constexpr NopTrial kUntried{};
constexpr NopTrial kRefused{.is_tried = true, .is_refused = true};
constexpr NopTrial kStepped{.is_tried = true,
                            .is_stepped = true,
                            .survives_fork = true,
                            .passes_seccomp = true,
                            .keeps_red_zone = true};
constexpr NopTrial kEmulated{
    .is_tried = true, .survives_fork = true, .passes_seccomp = true, .keeps_red_zone = true};
constexpr NopTrial kHarmlessCall{.is_tried = true,
                                 .becomes_call = true,
                                 .survives_fork = true,
                                 .passes_seccomp = true,
                                 .keeps_red_zone = true};
constexpr NopTrial kKillingCall{.is_tried = true, .becomes_call = true};

TEST(NopTrial, ProbesMayKillChildrenUnlessTheyWereSeenNotTo) {
  EXPECT_TRUE(may_kill_children(kUntried));
  EXPECT_TRUE(may_kill_children(kKillingCall));
  for (const NopTrial& trial : {kStepped, kEmulated, kHarmlessCall})
    EXPECT_FALSE(may_kill_children(trial));
}

TEST(NopTrial, ProbesMayKillFilteredProcessesUnlessTheyWereSeenNotTo) {
  EXPECT_TRUE(may_kill_filtered(kUntried));
  EXPECT_TRUE(may_kill_filtered(kKillingCall));
  for (const NopTrial& trial : {kStepped, kEmulated, kHarmlessCall})
    EXPECT_FALSE(may_kill_filtered(trial));
}

TEST(NopTrial, FiveBytesCostWhatWasSeen) {
  const auto five = [](const NopTrial& trial, bool keeps_breakpoints) {
    return costs_of(trial, kRefused, keeps_breakpoints).five;
  };
  EXPECT_EQ(five(kUntried, true), CostClass::normal);
  EXPECT_EQ(five(kStepped, false), CostClass::slow);
  EXPECT_EQ(five(kEmulated, false), CostClass::normal);
  EXPECT_EQ(five(kKillingCall, true), CostClass::normal);
  EXPECT_EQ(five(kKillingCall, false), CostClass::fast);  // --fast-nops
}

TEST(NopTrial, TenBytesAreRefusedUnlessTheyHarmNobody) {
  const auto ten = [](const NopTrial& trial) { return costs_of(kEmulated, trial, false).ten; };
  EXPECT_EQ(ten(kUntried), std::nullopt);
  EXPECT_EQ(ten(kRefused), std::nullopt);
  EXPECT_EQ(ten(kKillingCall), std::nullopt);
  NopTrial overwrites = kHarmlessCall;
  overwrites.keeps_red_zone = false;
  EXPECT_EQ(ten(overwrites), std::nullopt);
  NopTrial filtered = kHarmlessCall;
  filtered.passes_seccomp = false;
  EXPECT_EQ(ten(filtered), std::nullopt);
  EXPECT_EQ(ten(kHarmlessCall), CostClass::fast);
  EXPECT_EQ(ten(kEmulated), CostClass::normal);
  EXPECT_EQ(ten(kStepped), CostClass::slow);
}

}  // namespace
