// SPDX-License-Identifier: BSD-2-Clause
#include <gtest/gtest.h>

#include <vector>

#include "daemon/object/code/caller.h"

using namespace tracectl;

namespace {

using Words = std::optional<unsigned>;

// push %rbp; mov %rsp,%rbp; push %rbx; nop
const std::vector<uint8_t> kWithFramePointer{0x55, 0x48, 0x89, 0xe5, 0x53, 0x90};
// endbr64; push %r12; sub $0x18,%rsp; je +0; nop
const std::vector<uint8_t> kWithout{0xf3, 0x0f, 0x1e, 0xfa, 0x41, 0x54, 0x48,
                                    0x83, 0xec, 0x18, 0x74, 0x00, 0x90};

}  // namespace

TEST(Caller, LiesAsFarAboveAsWasPushed) {
  EXPECT_EQ(words_below_caller(kWithFramePointer, 0), Words{0});
  EXPECT_EQ(words_below_caller(kWithFramePointer, 1), Words{1});
  EXPECT_EQ(words_below_caller(kWithout, 4), Words{0});
  EXPECT_EQ(words_below_caller(kWithout, 6), Words{1});
  EXPECT_EQ(words_below_caller(kWithout, 10), Words{4});
}

TEST(Caller, IsTheFramePointersOnceThereIsOne) {
  EXPECT_EQ(words_below_caller(kWithFramePointer, 4), std::nullopt);
  EXPECT_EQ(words_below_caller(kWithFramePointer, 5), std::nullopt);
}

TEST(Caller, IsNotKnownBehindABranchWithinAnInstructionAndBeyondTheBytes) {
  EXPECT_EQ(words_below_caller(kWithout, 12), std::nullopt);
  EXPECT_EQ(words_below_caller(kWithout, 5), std::nullopt);
  EXPECT_EQ(words_below_caller(kWithout, 13), std::nullopt);
  EXPECT_EQ(words_below_caller({}, 0), std::nullopt);
}
