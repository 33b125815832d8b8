// SPDX-License-Identifier: BSD-2-Clause
//
// Whether hits of an instruction are the calls of an inlined function, by code made by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/object/code/copy_entry.h"

using namespace tracectl;
using testing::HasSubstr;

namespace {

// xor %eax,%eax; 1: inc %eax; cmp $9,%eax; jne 1b; ret
constexpr uint8_t kLoop[] = {0x31, 0xc0, 0xff, 0xc0, 0x83, 0xf8, 0x09, 0x75, 0xf9, 0xc3};

// test %edi,%edi; je 1f; add $1,%eax; 1: ret
constexpr uint8_t kBranch[] = {0x85, 0xff, 0x74, 0x03, 0x83, 0xc0, 0x01, 0xc3};

std::string why_not_in(std::span<const uint8_t> code, const CodeSpans& copy, uint64_t entry,
                       bool is_said) {
  const FunctionCode function{{0x1000, code}, Extent::whole, {}};
  return HostFlow(function, [](uint64_t, std::span<uint8_t>) { return size_t{0}; })
      .why_not_entered_there(copy, entry, is_said);
}

std::string why_not_in_loop(const CodeSpans& copy, uint64_t entry) {
  return why_not_in(kLoop, copy, entry, true);
}

}  // namespace

TEST(CopyEntries, AreOnceForEachCall) {
  // The whole loop is the copy, and its first instruction is not in the loop.
  EXPECT_EQ(why_not_in_loop({{0x1000, 0x1009}}, 0x1000), "");
  // The loop is the host's, and the copy a part of its body.
  EXPECT_EQ(why_not_in_loop({{0x1002, 0x1004}}, 0x1002), "");
}

TEST(CopyEntries, AreNotWhereALoopOfTheCopyLeads) {
  EXPECT_THAT(why_not_in_loop({{0x1002, 0x1009}}, 0x1002), HasSubstr("leads back"));
  // By running on, from a part of the copy before its beginning.
  EXPECT_THAT(why_not_in_loop({{0x1002, 0x1009}}, 0x1004), HasSubstr("leads back"));
}

TEST(CopyEntries, AreNotWhereTheCopyIsEnteredElsewhere) {
  EXPECT_THAT(why_not_in_loop({{0x1000, 0x1002}, {0x1004, 0x1007}}, 0x1004),
              HasSubstr("without the instruction"));
  EXPECT_THAT(why_not_in_loop({{0x1004, 0x1007}}, 0x1002), HasSubstr("not its own"));
  EXPECT_THAT(why_not_in_loop({{0x1004, 0x1007}}, 0x1005), HasSubstr("no instruction"));
}

TEST(CopyEntries, AreNotExecutedBeforeTheHostDecides) {
  // The comparison is the copy's, and the jump is the host's.
  const CodeSpans parts{{0x1000, 0x1002}, {0x1004, 0x1007}};
  EXPECT_THAT(why_not_in(kBranch, parts, 0x1000, false), HasSubstr("not known yet"));
  EXPECT_EQ(why_not_in(kBranch, parts, 0x1000, true), "");
  // The copy has the jump, too.
  EXPECT_EQ(why_not_in(kBranch, {{0x1000, 0x1007}}, 0x1000, false), "");
}
