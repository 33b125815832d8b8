// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/object/code/stack_height.h"

#include <gtest/gtest.h>

#include <vector>

#include "daemon/object/code/pushed.h"
#include "tests/support/a64_code.h"

namespace tracectl {
namespace {

StackHeight height_after(const std::vector<uint8_t>& code) {
  StackHeight height;
  for (size_t at = 0; at < code.size(); at += 4)
    height = after(*step_at(0x1000 + at, std::span{code}.subspan(at)), height);
  return height;
}

StackHeight known(int64_t bytes, std::optional<int64_t> frame = {}) { return {bytes, frame}; }

TEST(A64StackHeight, IsWhatWasPushed) {
  EXPECT_EQ(height_after(words({
                0xa9bd7bfd  // stp x29, x30, [sp, #-48]!
            })),
            known(48));
  EXPECT_EQ(height_after(words({
                0xf81f0ffe  // str x30, [sp, #-16]!
            })),
            known(16));
  EXPECT_EQ(height_after(words({
                0x6db927e8  // stp d8, d9, [sp, #-112]!
            })),
            known(112));
  EXPECT_EQ(height_after(words({
                0xadbf27e8  // stp q8, q9, [sp, #-32]!
            })),
            known(32));
  EXPECT_EQ(height_after(words({
                0x29bf07e0  // stp w0, w1, [sp, #-8]!
            })),
            known(8));
  EXPECT_EQ(height_after(words({
                0x3c9f0fe0  // str q0, [sp, #-16]!
            })),
            known(16));
  EXPECT_EQ(height_after(words({
                0xd14013ff,  // sub sp, sp, #4, lsl #12
                0xd100c3ff   // sub sp, sp, #48
            })),
            known(16432));
  EXPECT_EQ(height_after(words({
                0xa90107e0,  // stp x0, x1, [sp, #16]
                0xf90003e2,  // str x2, [sp]
                0xeb2063ff   // cmp sp, x0
            })),
            known(0));
}

TEST(A64StackHeight, SinksByWhatWasPopped) {
  EXPECT_EQ(height_after(words({
                0xd10103ff,  // sub sp, sp, #64
                0x910103ff   // add sp, sp, #64
            })),
            known(0));
  EXPECT_EQ(height_after(words({
                0xa9be53f3,  // stp x19, x20, [sp, #-32]!
                0xa8c253f3   // ldp x19, x20, [sp], #32
            })),
            known(0));
  EXPECT_EQ(height_after(words({
                0xf81f0ffe,  // str x30, [sp, #-16]!
                0xf84107fe   // ldr x30, [sp], #16
            })),
            known(0));
}

TEST(A64StackHeight, ComesBackFromTheFramePointer) {
  EXPECT_EQ(height_after(words({
                0xa9be7bfd,  // stp x29, x30, [sp, #-32]!
                0x910003fd   // mov x29, sp
            })),
            known(32, 32));
  EXPECT_EQ(height_after(words({
                0xd10103ff,  // sub sp, sp, #64
                0xa9037bfd,  // stp x29, x30, [sp, #48]
                0x9100c3fd   // add x29, sp, #48
            })),
            known(64, 16));
  EXPECT_EQ(height_after(words({
                0xa9bf7bfd,  // stp x29, x30, [sp, #-16]!
                0x910003fd,  // mov x29, sp
                0xcb2063ff,  // sub sp, sp, x0
                0x910003bf,  // mov sp, x29
                0xa8c17bfd   // ldp x29, x30, [sp], #16
            })),
            known(0));
  EXPECT_EQ(height_after(words({
                0xa9bf7bfd,  // stp x29, x30, [sp, #-16]!
                0x910003fd,  // mov x29, sp
                0xd10083bf   // sub sp, x29, #32
            })),
            known(48, 16));
  EXPECT_EQ(height_after(words({
                0xa9bf7bfd,  // stp x29, x30, [sp, #-16]!
                0x910003fd,  // mov x29, sp
                0xaa0303fd   // mov x29, x3
            })),
            known(16));
}

TEST(A64StackHeight, IsUnknownAfterOtherWrites) {
  EXPECT_EQ(height_after(words({
                0xcb2c63ff  // sub sp, sp, x12
            })),
            (StackHeight{std::nullopt, std::nullopt}));
  EXPECT_EQ(height_after(words({
                0x9100013f  // mov sp, x9
            })),
            (StackHeight{std::nullopt, std::nullopt}));
  EXPECT_EQ(height_after(words({
                0x910003fd,  // mov x29, sp
                0x927ae53f   // and sp, x9, #-64
            })),
            (StackHeight{std::nullopt, 0}));
  EXPECT_EQ(height_after(words({
                0x043f57ff  // addvl sp, sp, #-1
            })),
            (StackHeight{std::nullopt, std::nullopt}));
  EXPECT_EQ(height_after(words({
                0x4cdf73e0  // ld1 {v0.16b}, [sp], #16
            })),
            (StackHeight{std::nullopt, std::nullopt}));
  EXPECT_EQ(height_after(words({
                0x69bf87e0  // stgp x0, x1, [sp, #-16]!
            })),
            (StackHeight{std::nullopt, std::nullopt}));
}

TEST(A64Pushed, IsKnownInStraightEntryCode) {
  const auto code = words({
      0xd503233f,  // paciasp
      0xa9be7bfd,  // stp x29, x30, [sp, #-32]!
      0xd10043ff,  // sub sp, sp, #16
      0xcb2163ff,  // sub sp, sp, x1
      0xd65f03c0   // ret
  });
  EXPECT_EQ(pushed_before({0x1000, code}, 0), 0u);
  EXPECT_EQ(pushed_before({0x1000, code}, 4), 0u);
  EXPECT_EQ(pushed_before({0x1000, code}, 8), 32u);
  EXPECT_EQ(pushed_before({0x1000, code}, 12), 48u);
  EXPECT_EQ(pushed_before({0x1000, code}, 16), std::nullopt);
}

}  // namespace
}  // namespace tracectl
