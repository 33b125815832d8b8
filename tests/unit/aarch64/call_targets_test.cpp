// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/object/code/call_targets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "daemon/object/code/caller.h"
#include "daemon/object/code/exits.h"
#include "daemon/object/code/indirect_calls.h"
#include "tests/support/a64_code.h"

namespace tracectl {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Code = std::vector<uint8_t>;

constexpr uint64_t kAddress = 0x1000;

CallTargets targets_of(const Code& code) {
  return call_targets({.body = {kAddress, code}, .extent = Extent::whole});
}

std::optional<uint64_t> slot_of(const Code& code) { return slot_of_stub({kAddress, code}); }

TEST(A64CallTargets, AreWhereDirectCallsAndJumpsLead) {
  EXPECT_THAT(targets_of(words({
                             0x94000400  // bl .+0x1000
                         }))
                  .called,
              ElementsAre(0x2000));
  EXPECT_THAT(targets_of(words({
                             0x14000400,  // b .+0x1000
                             0x97ffffff   // bl .-4
                         }))
                  .called,
              ElementsAre(0x2000));
  EXPECT_THAT(targets_of(words({
                             0x54008000,  // b.eq .+0x1000
                             0xb4008000   // cbz x0, .+0x1000
                         }))
                  .called,
              ElementsAre(0x2000, 0x2004));
  EXPECT_FALSE(targets_of(words({
                              0x94000400  // bl .+0x1000
                          }))
                   .calls_unknown);
}

TEST(A64CallTargets, AreAddressesFormedInTwoSteps) {
  EXPECT_THAT(targets_of(words({
                             0x90000020,  // adrp x0, .+0x4000
                             0x91048c00,  // add x0, x0, #0x123
                             0x94000400   // bl .+0x1000
                         }))
                  .referred,
              ElementsAre(0x5123));
  EXPECT_THAT(targets_of(words({
                             0x100091a0  // adr x0, .+0x1234
                         }))
                  .referred,
              ElementsAre(0x2234));
  EXPECT_THAT(targets_of(words({
                             0x90000020,  // adrp x0, .+0x4000
                             0xd503201f,  // nop
                             0xd2800000,  // mov x0, #0
                             0x91048c00   // add x0, x0, #0x123
                         }))
                  .referred,
              IsEmpty());
  EXPECT_THAT(targets_of(words({
                             0x90000033,  // adrp x19, .+0x4000
                             0x94000400,  // bl .+0x1000
                             0x91002260   // add x0, x19, #8
                         }))
                  .referred,
              ElementsAre(0x5008));
  EXPECT_THAT(targets_of(words({
                             0x90000021,  // adrp x1, .+0x4000
                             0x94000400,  // bl .+0x1000
                             0x91002020   // add x0, x1, #8
                         }))
                  .referred,
              IsEmpty());
  EXPECT_THAT(targets_of(words({
                             0x10000000,  // adr x0, .
                             0xd65f03c0   // ret
                         }))
                  .referred,
              IsEmpty());  // its own
}

TEST(A64CallTargets, AreAddressesFormedAlongJumpsAhead) {
  const Code code = words({
      0x90000021,  // adrp x1, .+0x4000
      0xb4000060,  // cbz x0, 1f
      0xd2800001,  // mov x1, #0
      0xd65f03c0,  // ret
      0x91002020,  // 1: add x0, x1, #8
      0xd65f03c0,  // ret
      0x91004020   // add x0, x1, #16
  });
  EXPECT_THAT(targets_of(code).referred, ElementsAre(0x5008));
  const Code joined = words({
      0x90000021,  // adrp x1, .+0x4000
      0xb4000040,  // cbz x0, 1f
      0xb0000021,  // adrp x1, .+0x5000
      0x91002020   // 1: add x0, x1, #8
  });
  EXPECT_THAT(targets_of(joined).referred, IsEmpty());
}

TEST(A64CallTargets, AreWordsInMemory) {
  EXPECT_THAT(targets_of(words({
                             0x90000020,  // adrp x0, .+0x4000
                             0xf9400801   // ldr x1, [x0, #16]
                         }))
                  .loaded,
              ElementsAre(0x5010));
  EXPECT_THAT(targets_of(words({
                             0x90000020,  // adrp x0, .+0x4000
                             0xb9401001   // ldr w1, [x0, #16]
                         }))
                  .loaded,
              ElementsAre(0x5010));
  EXPECT_THAT(targets_of(words({
                             0x90000020,  // adrp x0, .+0x4000
                             0x91002000,  // add x0, x0, #8
                             0xa9410801   // ldp x1, x2, [x0, #16]
                         }))
                  .loaded,
              ElementsAre(0x5018, 0x5020));
  EXPECT_THAT(targets_of(words({
                             0x90000020,  // adrp x0, .+0x4000
                             0x3dc00800   // ldr q0, [x0, #32]
                         }))
                  .loaded,
              ElementsAre(0x5020, 0x5028));
  EXPECT_THAT(targets_of(words({
                             0x90000020,  // adrp x0, .+0x4000
                             0xf9000801   // str x1, [x0, #16]
                         }))
                  .loaded,
              ElementsAre(0x5010));
  EXPECT_THAT(targets_of(words({
                             0x58000800  // ldr x0, .+0x100
                         }))
                  .loaded,
              ElementsAre(0x1100));
}

TEST(A64CallTargets, AreTheSlotsOfIndirectCalls) {
  const auto known = targets_of(words({
      0x90000020,  // adrp x0, .+0x4000
      0xf9400801,  // ldr x1, [x0, #16]
      0xd63f0020   // blr x1
  }));
  EXPECT_THAT(known.slots, ElementsAre(0x5010));
  EXPECT_FALSE(known.calls_unknown);
  EXPECT_THAT(targets_of(words({
                             0x90000020,  // adrp x0, .+0x4000
                             0xf9400801,  // ldr x1, [x0, #16]
                             0xaa0103f0,  // mov x16, x1
                             0xd61f0200   // br x16
                         }))
                  .slots,
              ElementsAre(0x5010));
  EXPECT_THAT(targets_of(words({
                             0x90000030,  // adrp x16, .+0x4000
                             0x91004210,  // add x16, x16, #16
                             0xd61f0200   // br x16
                         }))
                  .called,
              ElementsAre(0x5010));
  EXPECT_TRUE(targets_of(words({
                             0xf9400001,  // ldr x1, [x0]
                             0xd63f0020   // blr x1
                         }))
                  .calls_unknown);
  EXPECT_TRUE(targets_of(words({
                             0xd73f0822  // blraa x1, x2
                         }))
                  .calls_unknown);
  EXPECT_FALSE(targets_of(words({
                              0xd61f0020  // br x1
                          }))
                   .calls_unknown);
}

TEST(A64SlotOfStub, IsOfTheLinkersStubs) {
  EXPECT_EQ(slot_of(words({
                0x90000030,  // adrp x16, .+0x4000
                0xf947fe11,  // ldr x17, [x16, #0xff8]
                0x913fe210,  // add x16, x16, #0xff8
                0xd61f0220   // br x17
            })),
            0x5ff8u);
  EXPECT_EQ(slot_of(words({
                0xd503245f,  // bti c
                0x90000030,  // adrp x16, .+0x4000
                0xf9400611,  // ldr x17, [x16, #8]
                0x91002210,  // add x16, x16, #8
                0xd61f0220,  // br x17
                0xd503201f   // nop
            })),
            0x5008u);
  EXPECT_EQ(slot_of(words({
                0xd503245f,  // bti c
                0x90000030,  // adrp x16, .+0x4000
                0xf9400611,  // ldr x17, [x16, #8]
                0x91002210,  // add x16, x16, #8
                0xd503219f,  // autia1716
                0xd61f0220   // br x17
            })),
            0x5008u);
}

TEST(A64SlotOfStub, IsNoneInOtherCode) {
  EXPECT_EQ(slot_of(words({
                0xd65f03c0  // ret
            })),
            std::nullopt);
  EXPECT_EQ(slot_of(words({
                0xd61f0220  // br x17
            })),
            std::nullopt);
  EXPECT_EQ(slot_of(words({
                0x90000030,  // adrp x16, .+0x4000
                0xf9400611,  // ldr x17, [x16, #8]
                0x94000002,  // bl .+8
                0xd61f0220   // br x17
            })),
            std::nullopt);
  EXPECT_EQ(slot_of(words({
                0xa9bf7bf0,  // stp x16, x30, [sp, #-16]!
                0x90000030,  // adrp x16, .+0x4000
                0xf9400611   // ldr x17, [x16, #8]
            })),
            std::nullopt);
  EXPECT_EQ(slot_of({}), std::nullopt);
}

std::vector<IndirectCall> calls_of(const Code& code) {
  return indirect_calls({.body = {kAddress, code}, .extent = Extent::whole},
                        [](uint64_t, std::span<uint8_t>) { return size_t{0}; });
}

TEST(A64IndirectCalls, AreThroughARegister) {
  const auto calls = calls_of(words({
      0xf9400001,  // ldr x1, [x0]
      0xd63f0020,  // blr x1
      0xd65f03c0   // ret
  }));
  ASSERT_EQ(calls.size(), 1u);
  EXPECT_EQ(calls[0].address, 0x1004u);
  EXPECT_EQ(calls[0].callee.place, Argument::Place::in_register);
  EXPECT_EQ(static_cast<unsigned>(calls[0].callee.base), 1u);
  EXPECT_EQ(calls[0].slot, std::nullopt);
}

TEST(A64IndirectCalls, HaveTheSlotOfAnImport) {
  const auto calls = calls_of(words({
      0x90000020,  // adrp x0, .+0x4000
      0xf9400803,  // ldr x3, [x0, #16]
      0xd63f0060,  // blr x3
      0xd65f03c0   // ret
  }));
  ASSERT_EQ(calls.size(), 1u);
  EXPECT_EQ(calls[0].slot, 0x5010u);
}

TEST(A64IndirectCalls, AreJumpsThatCertainlyLeadOut) {
  ASSERT_EQ(calls_of(words({
                         0xf9400001,  // ldr x1, [x0]
                         0xaa0103f0,  // mov x16, x1
                         0xd61f0200   // br x16
                     }))
                .size(),
            1u);
  EXPECT_THAT(calls_of(words({
                  0xca020021,  // eor x1, x1, x2
                  0xd61f0020   // br x1
              })),
              IsEmpty());
  EXPECT_THAT(calls_of(words({
                  0x10000081,  // adr x1, .+16
                  0xb8a07820,  // ldrsw x0, [x1, x0, lsl #2]
                  0x8b010000,  // add x0, x0, x1
                  0xd61f0000,  // br x0
                  0xd65f03c0   // ret
              })),
              IsEmpty());
}

// Their registers have signed pointers.
TEST(A64IndirectCalls, AreNotThoseWithPointerAuthentication) {
  EXPECT_THAT(calls_of(words({
                  0xd73f0822,  // blraa x1, x2
                  0xd65f03c0   // ret
              })),
              IsEmpty());
  EXPECT_THAT(calls_of(words({
                  0xd63f0020,  // blr x1
                  0x56000000   // .inst 0x56000000
              })),
              IsEmpty());  // not all of it is code
}

uint32_t random_instruction(std::mt19937& random) {
  static const std::vector<uint32_t> kKinds{
      0x10000000,  // adr
      0x90000000,  // adrp
      0x91000000,  // add
      0xf9400000,  // ldr
      0x38606800,  // ldrb by index
      0xb8a07800,  // ldrsw by index
      0xf8607800,  // ldr by index
      0x8b000000,  // add of registers
      0x8b208800,  // add, sxtb #2
      0xaa0003e0,  // mov
      0xd61f0000,  // br
      0xd63f0000,  // blr
      0xa9bf7bfd,  // stp
      0xa8c17bfd,  // ldp
      0x71000c1f,  // cmp
  };
  const auto any = static_cast<uint32_t>(random());
  switch (random() % 8) {  // with few registers, and short jumps
    case 0: return 0x54000000 | any % 15 << 5 | (any >> 8) % 14;
    case 1: return 0x14000000 | ((any % 15 - 7) & 0x03ffffff);
    case 2: return any;
    default: return kKinds[random() % kKinds.size()] | (any & (0x3u | 0x3u << 5 | 0x3u << 16));
  }
}

// Each address found is in it.
TEST(A64Code, MayBeAnything) {
  std::mt19937 random{1};
  const ReadFile read = [&](uint64_t, std::span<uint8_t> into) {
    for (uint8_t& byte : into) byte = static_cast<uint8_t>(random() % 4 == 0 ? random() : 0);
    return into.size();
  };
  for (int round = 0; round < 3000; ++round) {
    Code code;
    for (int i = 0; i < 40; ++i)
      for (const uint8_t byte : words({random_instruction(random)})) code.push_back(byte);
    if (round % 5 == 0) code.resize(code.size() - random() % 4);
    const FunctionCode function{.body = {kAddress, code}, .extent = Extent::whole};
    call_targets(function);
    slot_of(code);
    words_below_caller(code, random() % 64);
    for (const IndirectCall& call : indirect_calls(function, read))
      EXPECT_LT(call.address - kAddress, code.size());
    const auto exits = find_exits(function, {.read = read});
    if (!exits) continue;
    for (const Exit& exit : *exits) EXPECT_LT(exit.address - kAddress, code.size());
  }
}

}  // namespace
}  // namespace tracectl
