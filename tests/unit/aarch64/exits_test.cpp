// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/object/code/exits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/a64_code.h"

namespace tracectl {
namespace {

using testing::HasSubstr;
using Code = std::vector<uint8_t>;

constexpr uint64_t kBody = 0x1000;
constexpr uint64_t kTable = 0x2000;

// A file with these bytes at kTable.
ReadFile file_with(Code contents) {
  return [contents = std::move(contents)](uint64_t address, std::span<uint8_t> into) {
    if (address - kTable >= contents.size()) return size_t{0};
    const size_t size = std::min<size_t>(into.size(), contents.size() - (address - kTable));
    std::copy_n(contents.begin() + static_cast<ptrdiff_t>(address - kTable), size, into.begin());
    return size;
  };
}

// The address and kind of each, "1004 ret"; or the reason of the failure.
std::string found(const Code& code, const Surroundings& surroundings = {}) {
  const auto exits = find_exits({.body = {kBody, code}, .extent = Extent::whole}, surroundings);
  if (!exits) return exits.error().message;
  std::ostringstream text;
  for (const Exit& exit : *exits) {
    text << (text.tellp() > 0 ? ", " : "") << std::hex << exit.address << ' ' << name_of(exit.kind);
    if (exit.target != 0) text << ' ' << exit.target;
  }
  return text.str();
}

const char* const kUnknown = "it jumps through a register or memory, and where to is unknown";

TEST(A64Exits, AreReturnsAndTailJumps) {
  EXPECT_EQ(found(words({
                0xb4000040,  // cbz x0, .+8
                0xd65f03c0,  // ret
                0xd65f03c0   // ret
            })),
            "1004 ret, 1008 ret");
  EXPECT_EQ(found(words({
                0x14000040  // b .+0x100
            })),
            "1000 tail jump 1100");
  EXPECT_EQ(found(words({
                0xa9bf7bfd,  // stp x29, x30, [sp, #-16]!
                0x94000040,  // bl .+0x100
                0xa8c17bfd,  // ldp x29, x30, [sp], #16
                0x14000040   // b .+0x100
            })),
            "100c tail jump 110c");
  EXPECT_EQ(found(words({
                0xd503201f,  // nop
                0x17ffffff   // b .-4
            })),
            "1004 tail jump 1000");
  EXPECT_EQ(found(words({
                0x94000040,  // bl .+0x100
                0xd503201f   // nop
            })),
            "");  // of a function that does not return
  EXPECT_EQ(found(words({
                0xd4207d00  // brk #1000
            })),
            "");
}

TEST(A64Exits, HaveTheirCondition) {
  const Code code = words({
      0x5400080d,  // b.le .+0x100
      0xd65f03c0   // ret
  });
  const Surroundings surroundings{
      .is_function = [](uint64_t address) { return address == 0x1100; }};
  const auto exits = find_exits({.body = {kBody, code}, .extent = Extent::whole}, surroundings);
  ASSERT_TRUE(exits);
  EXPECT_EQ(exits->at(0).kind, ExitKind::conditional_tail_jump);
  EXPECT_EQ(exits->at(0).condition, 13);
  EXPECT_EQ(exits->at(0).length, 4);
  EXPECT_EQ(exits->at(1).cost, CostClass::normal);
}

TEST(A64Exits, AreNoneWithSomethingOnTheStack) {
  EXPECT_THAT(found(words({
                  0xd10043ff,  // sub sp, sp, #16
                  0x14000040   // b .+0x100
              })),
              HasSubstr("a part of itself"));
  EXPECT_THAT(found(words({
                  0xd10043ff,  // sub sp, sp, #16
                  0xd61f0020   // br x1
              })),
              HasSubstr(kUnknown));
}

TEST(A64Exits, LeadThroughAPointer) {
  EXPECT_EQ(found(words({
                0xaa0003e2,  // mov x2, x0
                0x2a0103e0,  // mov w0, w1
                0xaa0203f0,  // mov x16, x2
                0xd61f0200   // br x16
            })),
            "100c indirect tail jump");
  EXPECT_EQ(found(words({
                0xf9400001,  // ldr x1, [x0]
                0xf9400421,  // ldr x1, [x1, #8]
                0xaa0103f0,  // mov x16, x1
                0xd61f0200   // br x16
            })),
            "100c indirect tail jump");
  EXPECT_EQ(found(words({
                0xa9bf7bfd,  // stp x29, x30, [sp, #-16]!
                0x94000040,  // bl .+0x100
                0xaa0003f0,  // mov x16, x0
                0xa8c17bfd,  // ldp x29, x30, [sp], #16
                0xd61f0200   // br x16
            })),
            "1010 indirect tail jump");
  EXPECT_EQ(found(words({
                0xa9420801,  // ldp x1, x2, [x0, #32]
                0xd61f0040   // br x2
            })),
            "1004 indirect tail jump");
  EXPECT_EQ(found(words({
                0xc8dffc02,  // ldar x2, [x0]
                0xd61f0040   // br x2
            })),
            "1004 indirect tail jump");
}

TEST(A64Exits, AreUnknownThroughARegisterOfUnknownOrigin) {
  EXPECT_THAT(found(words({
                  0xca020021,  // eor x1, x1, x2
                  0xd61f0020   // br x1
              })),
              HasSubstr(kUnknown));
  EXPECT_THAT(found(words({
                  0x94000040,  // bl .+0x100
                  0xd61f0020   // br x1
              })),
              HasSubstr(kUnknown));
  EXPECT_THAT(found(words({
                  0xaa1e03ef,  // mov x15, x30
                  0x94000040,  // bl .+0x100
                  0xd65f01e0   // ret x15
              })),
              HasSubstr(kUnknown));
  EXPECT_THAT(found(words({
                  0xdac11041,  // autia x1, x2
                  0xd61f0020   // br x1
              })),
              HasSubstr(kUnknown));
}

// The cases return, jump out, and jump out with something on the stack: that is known only if the table was read.
// Behind its last entry the table would lead to the entry.
const Code kSwitchOfGcc = words({
    0x7100041f,  // cmp w0, #1
    0x54000168,  // b.hi .+44
    0xb0000000,  // adrp x0, .+0x1000
    0x91000000,  // add x0, x0, #0
    0x38614800,  // ldrb w0, [x0, w1, uxtw]
    0x10000061,  // adr x1, .+12
    0x8b208820,  // add x0, x1, w0, sxtb #2
    0xd61f0000,  // br x0
    0x14000040,  // 1: b .+0x100
    0xd503201f,  // nop
    0x14000040,  // 2: b .+0x100
    0xd503201f,  // nop
    0xd65f03c0   // ret
});

TEST(A64Exits, AreInTheCasesOfASwitch) {
  const Surroundings read{.read = file_with({0x00, 0x02, 0xf8})};
  EXPECT_EQ(found(kSwitchOfGcc, read), "1020 tail jump 1120, 1028 tail jump 1128, 1030 ret");
  EXPECT_THAT(found(kSwitchOfGcc), HasSubstr("it jumps to what may be a part of itself"));
}

TEST(A64Exits, AreInTheCasesOfASwitchWithNegativeDistances) {
  const Surroundings read{.read = file_with({0x00, 0xff})};
  EXPECT_THAT(found(kSwitchOfGcc, read), HasSubstr("it jumps to what may be a part of itself"));
  const Surroundings elsewhere{.read = file_with({0x70})};
  EXPECT_THAT(found(kSwitchOfGcc, elsewhere), HasSubstr(kUnknown));
}

TEST(A64Exits, AreInTheCasesOfASwitchOfClang) {
  const Surroundings read{.read = file_with({0x00, 0x02})};
  EXPECT_EQ(found(words({
                      0x7100041f,  // cmp w0, #1
                      0x54000168,  // b.hi .+44
                      0xb0000009,  // adrp x9, .+0x1000
                      0x2a0003e8,  // mov w8, w0
                      0x91000129,  // add x9, x9, #0
                      0x1000008a,  // adr x10, .+16
                      0x3868692b,  // ldrb w11, [x9, x8]
                      0x8b0b094a,  // add x10, x10, x11, lsl #2
                      0xd61f0140,  // br x10
                      0x14000040,  // 1: b .+0x100
                      0xd503201f,  // nop
                      0x14000040,  // 2: b .+0x100
                      0xd65f03c0   // ret
                  }),
                  read),
            "1024 tail jump 1124, 102c tail jump 112c, 1030 ret");
}

TEST(A64Exits, AreInTheCasesOfASwitchWhoseTableIsItsBase) {
  // 0x1014 and 0x101c, as distances from 0x2000.
  const Surroundings read{
      .read = file_with({0x14, 0xf0, 0xff, 0xff, 0x1c, 0xf0, 0xff, 0xff, 0, 0, 0, 0})};
  EXPECT_EQ(found(words({
                      0xb0000009,  // adrp x9, .+0x1000
                      0x91000129,  // add x9, x9, #0
                      0xb8a8792a,  // ldrsw x10, [x9, x8, lsl #2]
                      0x8b0a0129,  // add x9, x9, x10
                      0xd61f0120,  // br x9
                      0x14000040,  // 1: b .+0x100
                      0xd503201f,  // nop
                      0x14000040   // 2: b .+0x100
                  }),
                  read),
            "1014 tail jump 1114, 101c tail jump 111c");
}

const Code kGoto = words({
    0xb0000002,  // adrp x2, .+0x1000
    0x91000042,  // add x2, x2, #0
    0xf860d840,  // ldr x0, [x2, w0, sxtw #3]
    0xd61f0000,  // br x0
    0x14000040,  // b .+0x100
    0xd65f03c0   // ret
});

TEST(A64Exits, AreBehindAComputedGoto) {
  const Surroundings labels{
      .read = file_with({0x10, 0x10, 0, 0, 0, 0, 0, 0, 0x14, 0x10, 0, 0, 0, 0, 0, 0})};
  EXPECT_EQ(found(kGoto, labels), "1010 tail jump 1110, 1014 ret");
}

TEST(A64Exits, LeadThroughAnArrayOfFunctions) {
  const Surroundings functions{.read = file_with({0x00, 0x50, 0, 0, 0, 0, 0, 0}),
                               .is_function = [](uint64_t) { return true; }};
  EXPECT_EQ(found(kGoto, functions), "100c indirect tail jump, 1010 tail jump 1110, 1014 ret");
  const Surroundings not_yet_relocated{.read = file_with({0, 0, 0, 0, 0, 0, 0, 0})};
  EXPECT_THAT(found(kGoto, not_yet_relocated), HasSubstr(kUnknown));
}

// int tail(int (**f)(int), int x) { b(2); return f[3](x); }  by gcc 12 -O2
TEST(A64Exits, AreThoseOfAFunctionOfGcc) {
  EXPECT_EQ(found(words({
                0xa9be7bfd,  // stp x29, x30, [sp, #-32]!
                0x910003fd,  // mov x29, sp
                0xa90153f3,  // stp x19, x20, [sp, #16]
                0xaa0003f3,  // mov x19, x0
                0x2a0103f4,  // mov w20, w1
                0x52800040,  // mov w0, #2
                0x94000040,  // bl .+0x100
                0xf9400e61,  // ldr x1, [x19, #24]
                0x2a1403e0,  // mov w0, w20
                0xa94153f3,  // ldp x19, x20, [sp, #16]
                0xaa0103f0,  // mov x16, x1
                0xa8c27bfd,  // ldp x29, x30, [sp], #32
                0xd61f0200   // br x16
            })),
            "1030 indirect tail jump");
}

// int frame(int n) { char buf[n]; a(buf, n); return buf[0]; }  by gcc 12 -O2; ending with a tail call
TEST(A64Exits, AreFoundBehindAnAllocation) {
  EXPECT_EQ(found(words({
                0xa9bf7bfd,  // stp x29, x30, [sp, #-16]!
                0x91003c00,  // add x0, x0, #15
                0x927cec00,  // and x0, x0, #0xfffffffffffffff0
                0x910003fd,  // mov x29, sp
                0xcb2063ff,  // sub sp, sp, x0
                0x910003e0,  // mov x0, sp
                0x94000040,  // bl .+0x100
                0x910003bf,  // mov sp, x29
                0xa8c17bfd,  // ldp x29, x30, [sp], #16
                0x14000040   // b .+0x100
            })),
            "1024 tail jump 1124");
}

}  // namespace
}  // namespace tracectl
