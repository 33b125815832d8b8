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

// One that sleeps can have no tail call, which is what keeps the frames of the others on their stacks. So it
// shows as well that this kernel would not keep them there otherwise.
TEST(Verifier, LeavesTheFramesOfProgramsAtUprobesThatDoNotSleepOnTheStack) {
  for (const auto& one : programs())
    if (one.is_at_uprobe) {
      EXPECT_EQ(one.has_frames_of_cpu, one.program == "on_site_asleep") << one.program;
    }
}
