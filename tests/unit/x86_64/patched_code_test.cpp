// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/object/code/patched_code.h"

#include <gtest/gtest.h>

#include "tests/support/hex_code.h"

using namespace tracectl;

namespace {

bool is_same(const char* file, const char* memory) {
  return is_code_of_file(bytes(file), bytes(memory));
}

TEST(PatchedCode, IsTheFilesWhereNothingIsArmed) {
  EXPECT_TRUE(is_same("55 48 89 e5 c3", "55 48 89 e5 c3"));
  EXPECT_FALSE(is_same("55 48 89 e5 c3", "55 48 89 e6 c3"));
  EXPECT_FALSE(is_same("55 48", "55"));
  EXPECT_FALSE(is_same("", ""));
}

TEST(PatchedCode, MayHaveBreakpoints) {
  EXPECT_TRUE(is_same("55 48 89 e5 c3", "cc 48 89 e5 cc"));
  EXPECT_FALSE(is_same("55 48 89 e5 c3", "cc 48 88 e5 c3"));
}

TEST(PatchedCode, MayHaveACallForA5ByteNop) {
  EXPECT_TRUE(is_same("0f 1f 44 00 00 c3", "e8 12 34 56 78 c3"));
  EXPECT_FALSE(is_same("31 c0 31 c0 90 c3", "e8 12 34 56 78 c3"));
  EXPECT_FALSE(is_same("55 0f 1f 44 00 00 c3", "e8 12 34 56 78 c3 c3"));
}

// As seen on Linux 7.2: before, while and after a 10-byte nop is a call, and in between.
TEST(PatchedCode, MayHaveStepsOfA10ByteNop) {
  const char* nop = "66 2e 0f 1f 84 00 00 00 00 00";
  EXPECT_TRUE(is_same(nop, "cc 2e 0f 1f 84 00 00 00 00 00"));
  EXPECT_TRUE(is_same(nop, "cc 8d 64 24 80 e8 a6 55 ff ff"));
  EXPECT_TRUE(is_same(nop, "48 8d 64 24 80 e8 a6 55 ff ff"));
  EXPECT_TRUE(is_same(nop, "66 2e 0f 1f 84 e8 a6 55 ff ff"));
  EXPECT_TRUE(is_same(nop, "cc 2e 0f 1f 84 e8 a6 55 ff ff"));
  EXPECT_FALSE(is_same(nop, "48 8d 64 24 88 e8 a6 55 ff ff"));
  EXPECT_FALSE(is_same("66 2e 0f 1f 84 00 00 00 00 c3", "48 8d 64 24 80 e8 a6 55 ff ff"));
}

// The nops of a site of <tracectl/usdt.h>, of which another tracer may have armed the second.
TEST(PatchedCode, MayHaveACallShortlyAfterTheProbe) {
  const char* site = "90 66 2e 0f 1f 84 00 00 00 00 00 0f 1f 44 00";
  EXPECT_TRUE(is_same(site, "90 48 8d 64 24 80 e8 a6 55 ff ff 0f 1f 44 00"));
  EXPECT_TRUE(is_same(site, "cc 66 2e 0f 1f 84 e8 a6 55 ff ff 0f 1f 44 00"));
  EXPECT_FALSE(is_same(site, "91 48 8d 64 24 80 e8 a6 55 ff ff 0f 1f 44 00"));
}

}  // namespace
