// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/object/code/step.h"

#include <gtest/gtest.h>

#include <vector>

#include "daemon/object/code/pushed.h"
#include "tests/support/a64_code.h"

namespace tracectl {
namespace {

constexpr uint64_t kStep = 0x1000;

struct Named {
  uint32_t word;
  const char* text;
};

// The span of the step is to these bytes.
CodeStep step_of(const std::vector<uint8_t>& code) {
  const auto step = step_at(kStep, code);
  return step ? *step : CodeStep{};
}

Flow flow_of(const Named& named) { return step_of(words({named.word})).flow; }

bool is_instruction(uint32_t word) { return step_at(kStep, words({word})).has_value(); }

TEST(Step, IsFourBytesAtAMultipleOfFour) {
  const auto code = words({0xd503201f, 0xd65f03c0});
  ASSERT_TRUE(step_at(kStep, code));
  EXPECT_EQ(step_at(kStep, code)->bytes.size(), 4u);
  EXPECT_FALSE(step_at(kStep + 2, code));
  EXPECT_FALSE(step_at(kStep, std::span{code}.first(3)));
}

TEST(Step, IsNoneInUnallocatedEncodings) {
  EXPECT_FALSE(is_instruction(0xffffffff & 0x03ffffff));  // op0 = 0001
  EXPECT_FALSE(is_instruction(0x06000000));               // op0 = 0011
  EXPECT_FALSE(is_instruction(0x00010000));               // reserved, but not udf
  EXPECT_FALSE(is_instruction(0x56000000));               // among the branches
  EXPECT_FALSE(is_instruction(0xd6ff03c0));
  EXPECT_TRUE(is_instruction(0x00000000));  // udf #0
}

TEST(Step, IsOneOfLaterExtensionsToo) {
  for (const Named& named : std::vector<Named>{{0xb8200041, "ldadd w0, w1, [x2]"},
                                               {0xc8e0fc41, "casal x0, x1, [x2]"},
                                               {0x2518e3e0, "ptrue p0.b"},
                                               {0xf8200420, "ldraa x0, [x1]"},
                                               {0xd9201420, "stg x0, [x1], #16"},
                                               {0x1ee22820, "fadd h0, h1, h2"}})
    EXPECT_EQ(flow_of(named), Flow::next) << named.text;
}

TEST(Step, HasItsFlow) {
  for (const Named& named : std::vector<Named>{{0x94000040, "bl .+0x100"},
                                               {0xd63f0060, "blr x3"},
                                               {0xd73f0864, "blraa x3, x4"},
                                               {0xd63f087f, "blraaz x3"}})
    EXPECT_EQ(flow_of(named), Flow::call) << named.text;
  for (const Named& named :
       std::vector<Named>{{0x54000800, "b.eq .+0x100"}, {0x54000800 | 0x10, "bc.eq .+0x100"}})
    EXPECT_EQ(flow_of(named), Flow::conditional) << named.text;
  for (const Named& named : std::vector<Named>{{0xb4000040, "cbz x0, .+8"},
                                               {0x35000040, "cbnz w0, .+8"},
                                               {0xb6400040, "tbz x0, #40, .+8"},
                                               {0x37080040, "tbnz w0, #1, .+8"}})
    EXPECT_EQ(flow_of(named), Flow::odd_branch) << named.text;
  for (const Named& named : std::vector<Named>{{0xd61f0060, "br x3"},
                                               {0xd71f0864, "braa x3, x4"},
                                               {0xd61f0c7f, "brabz x3"},
                                               {0xd65f0060, "ret x3"}})
    EXPECT_EQ(flow_of(named), Flow::indirect) << named.text;
  for (const Named& named :
       std::vector<Named>{{0xd65f03c0, "ret"}, {0xd65f0bff, "retaa"}, {0xd65f0fff, "retab"}})
    EXPECT_EQ(flow_of(named), Flow::ret) << named.text;
  for (const Named& named :
       std::vector<Named>{{0xd69f03e0, "eret"}, {0xd69f0bff, "eretaa"}, {0xd6bf03e0, "drps"}})
    EXPECT_EQ(flow_of(named), Flow::far_away) << named.text;
  for (const Named& named : std::vector<Named>{{0xd4200020, "brk #1"},
                                               {0xd4400020, "hlt #1"},
                                               {0xd4000022, "hvc #1"},
                                               {0xd4000023, "smc #1"},
                                               {0xd4a00001, "dcps1"},
                                               {0x00000001, "udf #1"}})
    EXPECT_EQ(flow_of(named), Flow::nothing) << named.text;
  for (const Named& named : std::vector<Named>{{0xd4000001, "svc #0"},
                                               {0xd503201f, "nop"},
                                               {0xd53bd040, "mrs x0, tpidr_el0"},
                                               {0xd5033fdf, "isb"},
                                               {0xd503245f, "bti c"},
                                               {0x58000040, "ldr x0, .+8"}})
    EXPECT_EQ(flow_of(named), Flow::next) << named.text;
  EXPECT_EQ(step_of(words({
                        0x14000040  // b .+0x100
                    }))
                .flow,
            Flow::jump);
}

TEST(Step, HasTheTargetOfADirectJumpOrCall) {
  const auto target_of = [](uint32_t word) {
    const CodeStep step = step_of(words({word}));
    return step.has_target ? step.target : 0;
  };
  EXPECT_EQ(target_of(0x14000040), 0x1100u);  // b .+0x100
  EXPECT_EQ(target_of(0x97fffc00), 0x0u);     // bl .-0x1000
  EXPECT_EQ(target_of(0x97fffc01), 0x4u);
  EXPECT_EQ(target_of(0x540ffffe | 0xff0000), 0x0ffcu);  // b.al .-4
  EXPECT_EQ(target_of(0xb4000041), 0x1008u);             // cbz x1, .+8
  EXPECT_EQ(target_of(0x3607ffe1), 0x0ffcu);             // tbz w1, #0, .-4
  EXPECT_FALSE(step_of(words({
                           0xd63f0060  // blr x3
                       }))
                   .has_target);
  EXPECT_FALSE(step_of(words({
                           0x10000043  // adr x3, .+8
                       }))
                   .has_target);
}

TEST(Step, MovesTheStackIfItWritesThePointerOrTheFramePointer) {
  const auto moves = [](const Named& named) { return step_of(words({named.word})).moves_stack; };
  for (const Named& named : std::vector<Named>{{0xa9bf7bfd, "stp x29, x30, [sp, #-16]!"},
                                               {0xa8c253f3, "ldp x19, x20, [sp], #32"},
                                               {0xf81f0fe0, "str x0, [sp, #-16]!"},
                                               {0xfc4107e0, "ldr d0, [sp], #16"},
                                               {0xd10043ff, "sub sp, sp, #16"},
                                               {0xcb2c63ff, "sub sp, sp, x12"},
                                               {0x9100001f, "mov sp, x0"},
                                               {0x927ced3f, "and sp, x9, #-16"},
                                               {0x910003fd, "mov x29, sp"},
                                               {0xa9407bfd, "ldp x29, x30, [sp]"},
                                               {0x043f57ff, "addvl sp, sp, #-1"},
                                               {0x9adf101f, "irg sp, x0"},
                                               {0x4c9f73e0, "st1 {v0.16b}, [sp], #16"}})
    EXPECT_TRUE(moves(named)) << named.text;
  for (const Named& named : std::vector<Named>{{0xf100041f, "cmp x0, #1"},
                                               {0xf800841f, "str xzr, [x0], #8"},
                                               {0xa9007bfd, "stp x29, x30, [sp]"},
                                               {0x910043e0, "add x0, sp, #16"},
                                               {0xaa1f0020, "orr x0, x1, xzr"},
                                               {0xb820003f, "stadd w0, [x1]"},
                                               {0x1e6043fd, "fmov d29, d31"},
                                               {0xeb2063ff, "cmp sp, x0"}})
    EXPECT_FALSE(moves(named)) << named.text;
}

TEST(Step, LoadsByAScaledIndexOrABytesOne) {
  const auto loads = [](const Named& named) { return step_of(words({named.word})).loads_by_index; };
  for (const Named& named : std::vector<Named>{{0x38624820, "ldrb w0, [x1, w2, uxtw]"},
                                               {0x78627820, "ldrh w0, [x1, x2, lsl #1]"},
                                               {0xb8a2d820, "ldrsw x0, [x1, w2, sxtw #2]"},
                                               {0xf8627820, "ldr x0, [x1, x2, lsl #3]"}})
    EXPECT_TRUE(loads(named)) << named.text;
  for (const Named& named : std::vector<Named>{{0xf8626820, "ldr x0, [x1, x2]"},
                                               {0xf8227820, "str x0, [x1, x2, lsl #3]"},
                                               {0x3ce27820, "ldr q0, [x1, x2, lsl #4]"},
                                               {0xf9400420, "ldr x0, [x1, #8]"}})
    EXPECT_FALSE(loads(named)) << named.text;
}

TEST(Step, IsANop) {
  EXPECT_TRUE(is_nop(step_of(words({
      0xd503201f  // nop
  }))));
  EXPECT_FALSE(is_nop(step_of(words({
      0xd503245f  // bti c
  }))));
  EXPECT_FALSE(is_nop(step_of(words({
      0xaa0003e0  // mov x0, x0
  }))));
}

TEST(Step, HasItsCondition) {
  EXPECT_EQ(condition_of(step_of(words({
                0x54000040  // b.eq .+8
            }))),
            0);
  EXPECT_EQ(condition_of(step_of(words({
                0x54000048  // b.hi .+8
            }))),
            8);
  EXPECT_EQ(condition_of(step_of(words({
                0x5400004d  // b.le .+8
            }))),
            13);
}

bool leaf(const std::vector<uint8_t>& code) {
  return is_leaf({.body = {kStep, code}, .extent = Extent::whole});
}

TEST(A64Leaf, ComputesAndReturns) {
  EXPECT_TRUE(leaf(words({
      0x0b010000,  // add w0, w0, w1
      0xd65f03c0   // ret
  })));
  EXPECT_TRUE(leaf(words({
      0xd503245f,  // bti c
      0xf9407800,  // ldr x0, [x0, #240]
      0xb4000040,  // cbz x0, .+8
      0xb861d800,  // ldr w0, [x0, w1, sxtw #2]
      0xd65f03c0   // ret
  })));
  EXPECT_TRUE(leaf(words({
      0xb90013e0,  // str w0, [sp, #16]
      0x3dc0001e,  // ldr q30, [x0]
      0x11407820,  // add w0, w1, #0x1e, lsl #12
      0xd65f03c0   // ret
  })));
}

TEST(A64Leaf, CallsNobody) {
  EXPECT_FALSE(leaf(words({
      0x94000040,  // bl .+0x100
      0xd65f03c0   // ret
  })));
  EXPECT_FALSE(leaf(words({
      0xd63f0020,  // blr x1
      0xd65f03c0   // ret
  })));
  EXPECT_FALSE(leaf(words({
      0xd4000001,  // svc #0
      0xd65f03c0   // ret
  })));
  EXPECT_FALSE(leaf(words({
      0x14000040  // b .+0x100
  })));
}

// Each of these would find the trampoline in place of the return address, or return without it.
TEST(A64Leaf, LeavesTheReturnAddressAlone) {
  EXPECT_FALSE(leaf(words({
      0xa905781d,  // stp x29, x30, [x0, #80]
      0x52800000,  // mov w0, #0
      0xd65f03c0   // ret
  })));            // setjmp
  EXPECT_FALSE(leaf(words({
      0xaa1e03ef,  // mov x15, x30
      0xd65f01e0   // ret x15
  })));
  EXPECT_FALSE(leaf(words({
      0xa945781d,  // ldp x29, x30, [x0, #80]
      0xd65f03c0   // ret
  })));            // longjmp
  EXPECT_FALSE(leaf(words({
      0xaa0103fe,  // mov x30, x1
      0xd65f03c0   // ret
  })));
  EXPECT_FALSE(leaf(words({
      0xd503233f,  // paciasp
      0xd50323bf,  // autiasp
      0xd65f03c0   // ret
  })));
  EXPECT_FALSE(leaf(words({
      0xaa1e03e0,  // mov x0, x30
      0xd65f03c0   // ret
  })));
  EXPECT_FALSE(leaf(words({
      0xd10043ff,  // sub sp, sp, #16
      0x910043ff,  // add sp, sp, #16
      0xd65f03c0   // ret
  })));
  EXPECT_FALSE(leaf(words({
      0x9100003f,  // mov sp, x1
      0xd65f03c0   // ret
  })));
}

}  // namespace
}  // namespace tracectl
