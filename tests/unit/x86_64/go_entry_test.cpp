// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/object/code/go_entry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/hex_code.h"

namespace tracectl {
namespace {

using ::testing::HasSubstr;

Result<uint64_t> entry_of(const std::string& hex) {
  const Bytes code = bytes(hex);
  return go_entry({.body = {0x1000, code}, .extent = Extent::whole});
}

void expect_loop(const std::string& hex) {
  const auto entry = entry_of(hex);
  ASSERT_FALSE(entry) << *entry;
  EXPECT_THAT(entry.error().message, HasSubstr("its entry is within a loop"));
}

// cmp rsp,[r14+16]; jbe; sub rsp,24; add rsp,24; ret; then a call, and jmp to the entry.
TEST(GoEntry, IsBehindTheCheckOfTheStack) {
  const auto entry = entry_of(
      "49 3b 66 10 76 09 48 83 ec 18 48 83 c4 18 c3 48 89 44 24 08 e8 f6 0f 00 00 "
      "48 8b 44 24 08 eb e0");
  ASSERT_TRUE(entry) << entry.error().message;
  EXPECT_EQ(*entry, 6u);
}

// lea r12,[rsp-256]; cmp r12,[r14+16]; jbe.
TEST(GoEntry, IsBehindTheCheckForALargeFrame) {
  const auto entry = entry_of(
      "4c 8d a4 24 00 ff ff ff 4d 3b 66 10 76 0f 48 81 ec 80 01 00 00 "
      "48 81 c4 80 01 00 00 c3 e8 fb 0f 00 00 90 eb db");
  ASSERT_TRUE(entry) << entry.error().message;
  EXPECT_EQ(*entry, 14u);
}

// mov r12,rsp; sub r12,0x11c0; jb; cmp r12,[r14+16]; jbe.
TEST(GoEntry, IsBehindBothJumpsOfTheCheckForAHugeFrame) {
  const auto entry = entry_of(
      "49 89 e4 49 81 ec c0 11 00 00 72 15 4d 3b 66 10 76 0f 48 81 ec 40 12 00 00 "
      "48 81 c4 40 12 00 00 c3 e8 fb 0f 00 00 eb d8");
  ASSERT_TRUE(entry) << entry.error().message;
  EXPECT_EQ(*entry, 18u);
}

TEST(GoEntry, IsTheFirstInstructionWithoutACheck) {
  const auto entry = entry_of("48 89 c1 c3");
  ASSERT_TRUE(entry);
  EXPECT_EQ(*entry, 0u);
}

TEST(GoEntry, IsRefusedWithinALoop) {
  expect_loop("48 89 c1 48 ff c9 75 f8 c3");        // mov rcx,rax; dec rcx; jne to the entry
  expect_loop("48 85 c0 74 05 48 ff c8 eb f6 c3");  // a loop that ends with a jump
  // A check, and another jump to the entry.
  expect_loop("49 3b 66 10 76 06 48 85 c0 75 f5 c3 e8 fb 0f 00 00 eb ed");
  // A check, behind which a loop begins.
  expect_loop("49 3b 66 10 76 06 48 ff c8 75 fb c3 e8 fb 0f 00 00 eb ed");
}

}  // namespace
}  // namespace tracectl
