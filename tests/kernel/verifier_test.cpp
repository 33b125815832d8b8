// SPDX-License-Identifier: BSD-2-Clause
#include <gtest/gtest.h>

#include "tests/support/verified.h"

using namespace tracectl;

namespace {

const std::vector<Verified>& programs() {
  static const std::vector<Verified> all = verify_programs();
  return all;
}

}  // namespace

TEST(Verifier, WalksNoProgramFurtherThanItsBound) {
  ASSERT_FALSE(programs().empty());
  for (const auto& one : programs()) {
    EXPECT_EQ(one.refused, "") << one.program;
    EXPECT_LE(one.instructions, kMostVerifiedInstructions) << one.program;
  }
}

// A program that sleeps can have no tail calls, which keep the frames of the others on their
// stacks. So it also shows that this kernel would not keep them there otherwise.
TEST(Verifier, LeavesTheFramesOfProgramsAtUprobesThatDoNotSleepOnTheStack) {
  for (const auto& one : programs())
    if (one.is_at_uprobe) {
      EXPECT_EQ(one.has_frames_of_cpu, one.program == "on_site_asleep") << one.program;
    }
}
