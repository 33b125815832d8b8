// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/object/code/instruction.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "daemon/object/code/caller.h"
#include "daemon/object/code/patched_code.h"
#include "daemon/object/code/placement.h"
#include "tests/support/a64_code.h"
#include "tests/support/hex_code.h"

namespace tracectl {
namespace {

using testing::HasSubstr;

struct Probed {
  uint32_t word;
  const char* text;
};

Instruction decoded(const Probed& probed) { return *decode_instruction(words({probed.word})); }

TEST(A64Instruction, IsSimulated) {
  for (const Probed& probed : std::vector<Probed>{{0x14000002, "b .+8"},
                                                  {0x94000002, "bl .+8"},
                                                  {0x54000041, "b.ne .+8"},
                                                  {0xb4000040, "cbz x0, .+8"},
                                                  {0x35000040, "cbnz w0, .+8"},
                                                  {0x36080040, "tbz x0, #1, .+8"},
                                                  {0x37080040, "tbnz x0, #1, .+8"},
                                                  {0x10000000, "adr x0, ."},
                                                  {0x90000000, "adrp x0, ."},
                                                  {0xd61f0000, "br x0"},
                                                  {0xd63f0000, "blr x0"},
                                                  {0xd65f03c0, "ret"},
                                                  {0xd65f0060, "ret x3"}}) {
    EXPECT_EQ(decoded(probed).cost, CostClass::normal) << probed.text;
    EXPECT_EQ(decoded(probed).refusal, nullptr) << probed.text;
    EXPECT_EQ(decoded(probed).length, 4) << probed.text;
  }
}

TEST(A64Instruction, IsSingleStepped) {
  for (const Probed& probed : std::vector<Probed>{{0xa9bf7bfd, "stp x29, x30, [sp, #-16]!"},
                                                  {0xd503201f, "nop"},
                                                  {0x91000400, "add x0, x0, #1"},
                                                  {0xd503233f, "paciasp"},
                                                  {0xd503237f, "pacibsp"},
                                                  {0xd503241f, "bti"},
                                                  {0xd503245f, "bti c"},
                                                  {0xd503249f, "bti j"},
                                                  {0xd50324df, "bti jc"},
                                                  {0xd50320ff, "xpaclri"},
                                                  {0xd53bd040, "mrs x0, tpidr_el0"},
                                                  {0xd5033bbf, "dmb ish"},
                                                  {0xc8dffc20, "ldar x0, [x1]"},
                                                  {0xc89ffc20, "stlr x0, [x1]"},
                                                  {0xc8a07c41, "cas x0, x1, [x2]"},
                                                  {0xf8200041, "ldadd x0, x1, [x2]"},
                                                  {0xf8200420, "ldraa x0, [x1]"},
                                                  {0x00000000, "udf #0"}}) {
    EXPECT_EQ(decoded(probed).cost, CostClass::slow) << probed.text;
    EXPECT_EQ(decoded(probed).refusal, nullptr) << probed.text;
  }
}

TEST(A64Instruction, IsRefusedByTheKernel) {
  for (const Probed& probed : std::vector<Probed>{{0xd71f0801, "braa x0, x1"},
                                                  {0xd63f081f, "blraaz x0"},
                                                  {0xd65f0bff, "retaa"},
                                                  {0xd65f0fff, "retab"},
                                                  {0xd4000001, "svc #0"},
                                                  {0xd4200000, "brk #0"},
                                                  {0xd4400000, "hlt #0"},
                                                  {0xd51bd040, "msr tpidr_el0, x0"},
                                                  {0xd50342df, "msr daifset, #2"},
                                                  {0xd53b4220, "mrs x0, daif"},
                                                  {0xd50323bf, "autiasp"},
                                                  {0xd503203f, "yield"},
                                                  {0xd503205f, "wfe"},
                                                  {0xd503229f, "csdb"},
                                                  {0xd69f03e0, "eret"}})
    EXPECT_STREQ(decoded(probed).refusal, "the kernel refuses this instruction") << probed.text;
  for (const Probed& probed : std::vector<Probed>{{0xc85f7c20, "ldxr x0, [x1]"},
                                                  {0xc800fc41, "stlxr w0, x1, [x2]"},
                                                  {0xc87f8440, "ldaxp x0, x1, [x2]"},
                                                  {0x085ffc20, "ldaxrb w0, [x1]"},
                                                  {0x48207c82, "casp x0, x1, x2, x3, [x4]"}})
    EXPECT_STREQ(decoded(probed).refusal, "the kernel accepts no exclusive access") << probed.text;
  for (const Probed& probed : std::vector<Probed>{{0x19010440, "cpyfp [x0]!, [x1]!, x2!"},
                                                  {0x19810440, "cpyfe [x0]!, [x1]!, x2!"},
                                                  {0x19c20420, "setp [x0]!, x1!, x2"}})
    EXPECT_THAT(decoded(probed).refusal, HasSubstr("third of a copy")) << probed.text;
  for (const Probed& probed : std::vector<Probed>{{0x58000040, "ldr x0, .+8"},
                                                  {0x18000040, "ldr w0, .+8"},
                                                  {0x98000040, "ldrsw x0, .+8"},
                                                  {0xd8000040, "prfm pldl1keep, .+8"}})
    EXPECT_THAT(decoded(probed).refusal, HasSubstr("relative")) << probed.text;
}

TEST(A64Instruction, IsRefusedWhereTheKernelWouldRunItWrongly) {
  for (const Probed& probed : std::vector<Probed>{{0x9c000040, "ldr q0, .+8"},
                                                  {0x5c000040, "ldr d0, .+8"},
                                                  {0x1c000040, "ldr s0, .+8"},
                                                  {0x54000050, "bc.eq .+8"}})
    EXPECT_THAT(decoded(probed).refusal, HasSubstr("in another place")) << probed.text;
}

TEST(A64Instruction, IsNoneIfUnallocatedOrCutOff) {
  EXPECT_FALSE(decode_instruction(words({0x02000000})));
  EXPECT_FALSE(decode_instruction(bytes("1f 20 03")));
}

TEST(A64Instruction, IsNoNopOfSeveralBytes) {
  const auto nop = words({
      0xd503201f  // nop
  });
  EXPECT_FALSE(is_nop5(nop) || is_nop10(nop) || is_long_nop(nop));
  EXPECT_FALSE(nop5_is_safe({.body = {0x1000, nop}}, 0));
}

TEST(A64Instruction, IsASiteOfTheHeader) {
  EXPECT_TRUE(is_header_site(words({
      0xd503201f,  // nop
      0xd65f03c0,  // ret
      0xd503201f   // nop
  })));
  EXPECT_FALSE(is_header_site(words({
      0xd503201f,  // nop
      0xd503201f,  // nop
      0xd65f03c0   // ret
  })));
  EXPECT_FALSE(is_header_site(words({
      0xd503201f  // nop
  })));
  EXPECT_EQ(place_in_header_site({}), (Placement{0, CostClass::slow, 4}));
}

TEST(A64Instruction, LeadsToAReturn) {
  EXPECT_TRUE(leads_to_return(words({
      0xd503201f,  // nop
      0xd65f03c0   // ret
  })));
  EXPECT_TRUE(leads_to_return(words({
      0xd503201f,  // nop
      0xd503201f,  // nop
      0xd65f03c0   // ret
  })));
  EXPECT_FALSE(leads_to_return(words({
      0xd65f03c0  // ret
  })));
  EXPECT_FALSE(leads_to_return(words({
      0xd503201f,  // nop
      0xd65f0020   // ret x1
  })));
  EXPECT_FALSE(leads_to_return(words({
      0xd503201f,  // nop
      0xaa0103e0,  // mov x0, x1
      0xd65f03c0   // ret
  })));
  EXPECT_FALSE(leads_to_return(words({
      0xd503201f,  // nop
      0xd503201f   // nop
  })));
}

TEST(A64Placement, IsAtTheEntry) {
  const auto code = words({
      0xa9bf7bfd,  // stp x29, x30, [sp, #-16]!
      0x14000001   // b .+4
  });
  EXPECT_EQ(*place_entry({.body = {0x1000, code}, .extent = Extent::whole}),
            (Placement{0, CostClass::slow, 4}));
  const auto refused = words({
      0x58000040,  // ldr x0, .+8
      0xd65f03c0   // ret
  });
  EXPECT_FALSE(place_entry({.body = {0x1000, refused}, .extent = Extent::whole}));
}

TEST(A64Placement, IsWhereAnInstructionStarts) {
  const auto code = words({
      0xaa0103e0,  // mov x0, x1
      0xd65f03c0   // ret
  });
  EXPECT_EQ(*place(code, 4), (Placement{0, CostClass::normal, 4}));
  EXPECT_THAT(place(code, 2).error().message, HasSubstr("within the one from +0 to +4"));
}

// A trap there would make the store fail each time.
TEST(A64Placement, IsNotWithinAnExclusiveAccess) {
  const auto code = words({
      0x52800023,  // mov w3, #1
      0x885ffc02,  // 1: ldaxr w2, [x0]
      0x6b01005f,  // cmp w2, w1
      0x54000061,  // b.ne 2f
      0x88047c03,  // stxr w4, w3, [x0]
      0x35ffff84,  // cbnz w4, 1b
      0x1a9f17e0,  // 2: cset w0, eq
      0xd65f03c0   // ret
  });
  EXPECT_TRUE(place(code, 0));
  EXPECT_FALSE(place(code, 4));
  EXPECT_THAT(place(code, 8).error().message, HasSubstr("exclusive access"));
  EXPECT_THAT(place(code, 12).error().message, HasSubstr("exclusive access"));
  EXPECT_FALSE(place(code, 16));
  EXPECT_TRUE(place(code, 20));
  EXPECT_TRUE(place(code, 24));
  EXPECT_TRUE(place(code, 28));
}

TEST(A64PatchedCode, IsTheFilesWithOrWithoutTheKernelsBreakpoint) {
  const auto file = words({
      0xa9bf7bfd,  // stp x29, x30, [sp, #-16]!
      0x910003fd,  // mov x29, sp
      0xd65f03c0   // ret
  });
  EXPECT_TRUE(is_code_of_file(file, file));
  EXPECT_TRUE(is_code_of_file(file, words({
                                        0xd42000a0,  // brk #5
                                        0x910003fd,  // mov x29, sp
                                        0xd42000a0   // brk #5
                                    })));
  EXPECT_FALSE(is_code_of_file(file, words({
                                         0xd4200000,  // brk #0
                                         0x910003fd,  // mov x29, sp
                                         0xd65f03c0   // ret
                                     })));
  EXPECT_FALSE(is_code_of_file(file, words({
                                         0xa9be7bfd,  // stp x29, x30, [sp, #-32]!
                                         0x910003fd,  // mov x29, sp
                                         0xd65f03c0   // ret
                                     })));
  EXPECT_FALSE(is_code_of_file(file, words({
                                         0xd42000a0,  // brk #5
                                         0x910003fc,  // mov x28, sp
                                         0xd65f03c0   // ret
                                     })));
  EXPECT_FALSE(is_code_of_file(file, std::span{file}.first(8)));
  EXPECT_FALSE(is_code_of_file({}, {}));
}

TEST(A64Caller, IsInTheLinkRegisterUntilThatOrTheFramePointerChanges) {
  const auto code = words({
      0xd503245f,  // bti c
      0xa9bf7bfd,  // stp x29, x30, [sp, #-16]!
      0xd10083ff,  // sub sp, sp, #32
      0x910003fd,  // mov x29, sp
      0xd503201f   // nop
  });
  const std::optional<unsigned> none;
  EXPECT_EQ(words_below_caller(code, 0), 0u);
  EXPECT_EQ(words_below_caller(code, 8), 0u);
  EXPECT_EQ(words_below_caller(code, 12), 0u);
  EXPECT_EQ(words_below_caller(code, 16), none);
  EXPECT_EQ(words_below_caller(code, 20), none);
  EXPECT_EQ(words_below_caller(code, 6), none);
  EXPECT_EQ(words_below_caller(words({
                                   0xd503233f,  // paciasp
                                   0xd503201f   // nop
                               }),
                               4),
            0u);
  EXPECT_EQ(words_below_caller(words({
                                   0xaa0103fe,  // mov x30, x1
                                   0xd503201f   // nop
                               }),
                               4),
            none);
  EXPECT_EQ(words_below_caller(words({
                                   0xb4000040,  // cbz x0, .+8
                                   0xd503201f   // nop
                               }),
                               4),
            none);
  EXPECT_EQ(words_below_caller(words({
                                   0xd63f0000,  // blr x0
                                   0xd503201f   // nop
                               }),
                               4),
            none);
  EXPECT_EQ(words_below_caller(words({
                                   0xd65f03c0,  // ret
                                   0xd503201f   // nop
                               }),
                               4),
            none);
}

}  // namespace
}  // namespace tracectl
