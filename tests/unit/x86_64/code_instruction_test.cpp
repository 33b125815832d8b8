// SPDX-License-Identifier: BSD-2-Clause
#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "daemon/object/code/instruction.h"
#include "tests/support/hex_code.h"

namespace tracectl {
namespace {

// The expectations in this file come from arming each of these on Linux 6.18: accepted or errno
// 524; emulated or single-stepped, by the time it takes; and the effect on registers.
class Costs : public testing::TestWithParam<std::pair<const char*, CostClass>> {};

TEST_P(Costs, AreThoseTheKernelWasSeenToCharge) {
  auto instruction = decode_instruction(bytes(GetParam().first));
  ASSERT_TRUE(instruction);
  EXPECT_EQ(instruction->refusal, nullptr);
  EXPECT_EQ(instruction->cost, GetParam().second);
  EXPECT_EQ(instruction->length, bytes(GetParam().first).size());
}

INSTANTIATE_TEST_SUITE_P(
    Instruction, Costs,
    testing::Values(
        std::pair{"0f 1f 44 00 00", CostClass::fast}, std::pair{"90", CostClass::normal},
        std::pair{"66 90", CostClass::normal}, std::pair{"0f 1f 00", CostClass::normal},
        std::pair{"0f 1f 40 00", CostClass::normal},
        std::pair{"66 0f 1f 44 00 00", CostClass::normal},
        std::pair{"0f 1f 80 00 00 00 00", CostClass::normal},
        std::pair{"0f 1f 84 00 00 00 00 00", CostClass::normal},
        std::pair{"66 0f 1f 84 00 00 00 00 00", CostClass::slow},
        std::pair{"0f 1f c0", CostClass::slow}, std::pair{"f3 90", CostClass::normal},
        std::pair{"55", CostClass::normal}, std::pair{"41 50", CostClass::normal},
        std::pair{"48 50", CostClass::slow}, std::pair{"66 50", CostClass::slow},
        std::pair{"eb 00", CostClass::normal}, std::pair{"e9 00 00 00 00", CostClass::normal},
        std::pair{"e8 00 00 00 00", CostClass::normal}, std::pair{"75 00", CostClass::normal},
        std::pair{"0f 85 00 00 00 00", CostClass::normal}, std::pair{"f2 eb 00", CostClass::normal},
        std::pair{"f3 0f 1e fa", CostClass::slow}, std::pair{"48 83 ec 08", CostClass::slow},
        std::pair{"48 89 e5", CostClass::slow}, std::pair{"c3", CostClass::slow},
        std::pair{"31 c0", CostClass::slow}, std::pair{"ff e0", CostClass::slow},
        std::pair{"c5 f8 57 c0", CostClass::slow}));

TEST(SiteCosts, AreWhatTheKernelMakesOfNops) {
  const auto five = bytes("0f 1f 44 00 00"), ten = bytes("66 2e 0f 1f 84 00 00 00 00 00");
  const SiteCosts costs{CostClass::slow, CostClass::normal};
  EXPECT_EQ(decode_instruction(five, costs)->cost, CostClass::slow);
  EXPECT_EQ(decode_instruction(ten, costs)->cost, CostClass::normal);
  EXPECT_EQ(decode_instruction(ten, costs)->refusal, nullptr);
  EXPECT_NE(decode_instruction(ten, SiteCosts{CostClass::fast, std::nullopt})->refusal, nullptr);
}

class Refused : public testing::TestWithParam<const char*> {};

TEST_P(Refused, HasAReason) {
  auto instruction = decode_instruction(bytes(GetParam()));
  ASSERT_TRUE(instruction);
  EXPECT_NE(instruction->refusal, nullptr);
}

INSTANTIATE_TEST_SUITE_P(Instruction, Refused,
                         testing::Values("66 66 2e 0f 1f 84 00 00 00 00 00",  // cs prefix
                                         "3e 75 00", "f0 ff 00", "cc", "cd 80", "f4", "fa", "fb",
                                         "cf", "e4 00", "ec", "6c", "66 e9 00 00 00 00", "66 75 00",
                                         "8e d0", "c7 f8 00 00 00 00",
                                         "c5 f9 6f c1"));  // vmovdqa

// The kernel accepted these, but took them for jumps and nops: the program went on without their
// effect.
INSTANTIATE_TEST_SUITE_P(NotExecutedUnderAProbe, Refused,
                         testing::Values("49 90",           // xchg %r8,%rax
                                         "c5 f8 77",        // vzeroupper
                                         "c5 f1 eb c2",     // vpor
                                         "c5 f9 70 c1 00",  // vpshufd
                                         "c5 f9 7f c1",     // vmovdqa, store
                                         "c5 f9 7e c0",     // vmovd
                                         "62 f1 75 48 eb c2"));

TEST(Instruction, BytesThatAreNoneAreAnError) {
  for (const char* code : {"", "06", "48", "e8 00 00", "c5 f8"})
    EXPECT_EQ(decode_instruction(bytes(code)).error().code, Code::invalid) << code;
}

// One line of `objdump -d -w`: "  4010:\tf3 0f 1e fa          \tendbr64".
Bytes listed_bytes(const char* line) {
  const char* start = std::strchr(line, '\t');
  const char* end = start != nullptr ? std::strchr(start + 1, '\t') : nullptr;
  return end != nullptr && std::strstr(end, "(bad)") == nullptr ? bytes(std::string{start, end})
                                                                : Bytes{};
}

TEST(Instruction, LengthsAreThoseOfObjdumpThroughAWholeProgram) {
  std::unique_ptr<FILE, int (*)(FILE*)> listing{popen("objdump -d -w -j .text /bin/ls", "r"),
                                                pclose};
  ASSERT_NE(listing, nullptr);
  size_t compared = 0;
  char line[512];
  while (std::fgets(line, sizeof line, listing.get()) != nullptr) {
    Bytes code = listed_bytes(line);
    if (code.empty()) continue;
    ++compared;
    size_t length = code.size();
    code.resize(length + 15, 0x90);
    auto instruction = decode_instruction(code);
    ASSERT_TRUE(instruction) << line;
    EXPECT_EQ(instruction->length, length) << line;
  }
  EXPECT_GT(compared, 5000u);
}

}  // namespace
}  // namespace tracectl
