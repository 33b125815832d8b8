// SPDX-License-Identifier: BSD-2-Clause
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "daemon/object/code/exits.h"
#include "tests/support/hex_code.h"

namespace tracectl {
namespace {

using testing::HasSubstr;

constexpr uint64_t kBody = 0x1000;

Result<std::vector<Exit>> exits_of(const std::string& hex, const Surroundings& surroundings = {}) {
  Bytes code = bytes(hex);
  return find_exits({.body = {kBody, code}, .extent = Extent::whole}, surroundings);
}

// The address and kind of each, "1004 ret"; or the reason of the failure.
std::string words(const Result<std::vector<Exit>>& exits) {
  if (!exits) return exits.error().message;
  std::ostringstream text;
  for (const Exit& exit : *exits) {
    text << (text.tellp() > 0 ? ", " : "") << std::hex << exit.address << ' ' << name_of(exit.kind);
    if (exit.target != 0) text << ' ' << exit.target;
  }
  return text.str();
}

std::string found(const std::string& hex, const Surroundings& surroundings = {}) {
  return words(exits_of(hex, surroundings));
}

// A file with these bytes at 0x2000.
ReadFile file_with(Bytes contents) {
  return [contents = std::move(contents)](uint64_t address, std::span<uint8_t> into) {
    if (address - 0x2000 >= contents.size()) return size_t{0};
    size_t size = std::min<size_t>(into.size(), contents.size() - (address - 0x2000));
    std::copy_n(contents.begin() + static_cast<ptrdiff_t>(address - 0x2000), size, into.begin());
    return size;
  };
}

TEST(ExitsOf, EachFormOfRet) {
  EXPECT_EQ(found("90 c3"), "1001 ret");
  EXPECT_EQ(found("c2 08 00"), "1000 ret");
  EXPECT_EQ(found("f3 c3"), "1000 ret");
  EXPECT_EQ(found("f2 c3"), "1000 ret");
  EXPECT_EQ(found("85 ff 74 01 c3 90 c3"), "1004 ret, 1006 ret");
}

TEST(ExitsOf, EachHasItsCostAndLength) {
  auto exits = *exits_of("85 ff 74 01 c3 e9 00 01 00 00");
  ASSERT_EQ(exits.size(), 2u);
  EXPECT_EQ(exits[0].cost, CostClass::slow);  // ret
  EXPECT_EQ(exits[0].length, 1);
  EXPECT_EQ(exits[1].cost, CostClass::normal);  // jmp
  EXPECT_EQ(exits[1].length, 5);
  EXPECT_EQ(exits[1].refusal, nullptr);
  EXPECT_NE(exits_of("66 e9 00 01 00 00")->at(0).refusal, nullptr);
}

TEST(ExitsOf, AJumpOutIsATailJumpWithItsTarget) {
  EXPECT_EQ(found("e9 fb 0f 00 00"), "1000 tail jump 2000");
  EXPECT_EQ(found("eb 7e"), "1000 tail jump 1080");
}

TEST(ExitsOf, AJumpWithinIsNone) {
  EXPECT_EQ(found("eb 01 cc c3"), "1003 ret");
  EXPECT_EQ(found("90 90 eb fd"), "");
}

TEST(ExitsOf, AJumpToItsOwnEntryIsOne) {
  EXPECT_EQ(found("90 eb fd"), "1001 tail jump 1000");
  EXPECT_EQ(found("eb fe"), "1000 tail jump 1000");
  EXPECT_EQ(found("53 5b e9 f9 ff ff ff"), "1002 tail jump 1000");
  auto exits = exits_of("ff cf 75 fc c3");  // dec %edi; jne to the dec; ret
  EXPECT_EQ(words(exits), "1002 conditional tail jump 1000, 1004 ret");
  EXPECT_EQ(exits->at(0).condition, 5);  // ne
}

TEST(ExitsOf, AJumpToItsOwnEntryFromAnotherPartIsOne) {
  Bytes body = bytes("90 74 7d c3");        // je 0x1080
  Bytes part = bytes("90 e9 7a ff ff ff");  // at 0x1080: nop, jmp 0x1000
  CodeRange others[] = {{0x1080, part}};
  FunctionCode function{.body = {kBody, body}, .extent = Extent::whole, .others = others};
  EXPECT_EQ(words(find_exits(function)), "1003 ret, 1081 tail jump 1000");
}

// The lock prefix is at the entry, where the probe is: a jump past it does not start the function
// again.
TEST(ExitsOf, AJumpOverALockPrefixAtTheEntryIsNone) {
  EXPECT_EQ(found("f0 48 0f b1 17 75 fa c3"), "1007 ret");
}

TEST(ExitsOf, AConditionalJumpOutIsOneIfItGoesToAFunction) {
  Surroundings known{.is_function = [](uint64_t address) { return address == 0x1080; }};
  auto exits = exits_of("74 7e c3", known);
  EXPECT_EQ(words(exits), "1000 conditional tail jump 1080, 1002 ret");
  EXPECT_EQ(exits->at(0).condition, 4);  // e
  EXPECT_EQ(found("0f 8c 7a 00 00 00 c3", known), "1000 conditional tail jump 1080, 1006 ret");
  EXPECT_EQ(exits_of("0f 8c 7a 00 00 00 c3", known)->at(0).condition, 12);  // l
  EXPECT_THAT(found("74 7d c3", known), HasSubstr("jumps on a condition"));
}

TEST(ExitsOf, AJumpThroughAPointerIsATailJumpWhereNothingIsOnTheStack) {
  EXPECT_EQ(found("ff e0"), "1000 indirect tail jump");              // an argument
  EXPECT_EQ(found("ff 25 00 10 00 00"), "1000 indirect tail jump");  // a linker's stub
  EXPECT_EQ(found("48 8b 07 ff 60 18"), "1003 indirect tail jump");  // a virtual function
  EXPECT_EQ(found("48 8b 07 48 8b 40 18 ff e0"), "1007 indirect tail jump");
  EXPECT_EQ(found("53 e8 00 10 00 00 5b ff e0"), "1007 indirect tail jump");  // a call's result
  EXPECT_THAT(found("50 ff 60 18"), HasSubstr("at 0x1001 it jumps through a register or memory"));
  EXPECT_THAT(found("50 48 8b 07 ff e0"), HasSubstr("where to is unknown"));
}

// lea 0x2000(%rip),%rdx; movslq (%rdx,%rax,4),%rax; add %rdx,%rax; jmp *%rax
constexpr const char* kSwitch = "48 8d 15 f9 0f 00 00 48 63 04 82 48 01 d0 ff e0 ";

TEST(ExitsOf, ASwitchByDistancesStaysWithin) {
  EXPECT_EQ(found(std::string{kSwitch} + "c3"), "1010 ret");
  EXPECT_EQ(found("50 48 8d 15 f8 0f 00 00 48 63 04 82 48 01 c2 ff e2 58 c3"), "1012 ret");
}

TEST(ExitsOf, ASwitchWhoseTableLeadsElsewhereIsRefused) {
  Surroundings file{.read = file_with(bytes("00 00 00 00"))};
  EXPECT_THAT(found(std::string{kSwitch} + "c3", file), HasSubstr("where to is unknown"));
}

TEST(ExitsOf, WhatASwitchLeadsToIsFollowed) {
  // push %rbx; ...; jmp *%rax; pop %rbx; jmp *(%rdi). The table says 0x1011 - 0x2000.
  std::string code = "53 48 8d 15 f8 0f 00 00 48 63 04 82 48 01 d0 ff e0 5b ff 27";
  Surroundings file{.read = file_with(bytes("11 f0 ff ff"))};
  EXPECT_EQ(found(code, file), "1012 indirect tail jump");
  EXPECT_THAT(found(code), HasSubstr("at 0x1012"));
}

TEST(ExitsOf, ASwitchThatLeadsToTheEntryIsRefused) {
  Surroundings file{.read = file_with(bytes("00 f0 ff ff"))};  // 0x1000 - 0x2000
  EXPECT_THAT(found(std::string{kSwitch} + "c3", file), HasSubstr("to its own entry by a table"));
}

TEST(ExitsOf, ATableOfAddressesIsJudgedByItsFirst) {
  for (std::string code : {"90 ff 24 c5 00 20 00 00 c3",              // jmp *0x2000(,%rax,8)
                           "90 48 8b 04 c5 00 20 00 00 ff e0 c3",     // mov ..., %rax; jmp *%rax
                           "90 48 8d 15 f8 0f 00 00 ff 24 c2 c3"}) {  // lea, jmp *(%rdx,%rax,8)
    EXPECT_THAT(found(code), HasSubstr("where to is unknown")) << code;
    Surroundings to_code{.read = file_with(bytes("01 10 00 00 00 00 00 00"))};
    EXPECT_THAT(found(code, to_code), testing::MatchesRegex("100[8b] ret")) << code;
    Surroundings to_others{.read = file_with(bytes("00 50 00 00 00 00 00 00"))};
    EXPECT_THAT(found(code, to_others), HasSubstr("indirect tail jump, ")) << code;
    Surroundings to_nothing{.read = file_with(Bytes(8))};
    EXPECT_THAT(found(code, to_nothing), HasSubstr("where to is unknown")) << code;
  }
}

TEST(ExitsOf, AComputedJumpIsRefused) {  // lea, shl, add, jmp: as glibc's memcpy
  EXPECT_THAT(found("48 8d 15 f9 0f 00 00 c1 e0 06 48 01 d0 ff e0 c3"),
              HasSubstr("where to is unknown"));
}

TEST(ExitsOf, WhereWaysMeetAJumpIsAPointersIfNoTableIsRead) {
  // test; je +3; mov (%rdi),%rax; jmp *%rax
  EXPECT_EQ(found("85 ff 74 03 48 8b 07 ff e0"), "1007 indirect tail jump");
  EXPECT_THAT(found("48 8b 04 c7 85 ff 74 03 48 8b 07 ff e0"), HasSubstr("where to is unknown"));
}

TEST(ExitsOf, WhatWasLoadedBeforeACallIsGone) {  // mov (%rdi,%rax,8),...; call; pop; jmp
  EXPECT_EQ(found("53 48 8b 04 c7 e8 00 10 00 00 5b ff e0"), "100b indirect tail jump");
  EXPECT_THAT(found("53 48 8b 0c c7 e8 00 10 00 00 5b ff e1"), HasSubstr("where to is unknown"));
}

TEST(ExitsOf, NotrackIsASwitchs) { EXPECT_EQ(found("50 48 01 d0 3e ff e0 58 c3"), "1008 ret"); }

TEST(ExitsOf, AFunctionThatNeverReturnsHasNone) {
  for (const char* code : {"e8 00 10 00 00", "50 e8 00 10 00 00 66 90", "0f 0b", "90 eb fe", "f4"})
    EXPECT_EQ(found(code), "") << code;
}

TEST(ExitsOf, PaddingAndSyscallsAreNone) {
  EXPECT_EQ(found("0f 05 0f 1f 44 00 00 c3 cc 66 90"), "1007 ret");
}

TEST(ExitsOf, CodeThatNoJumpLeadsToIsLookedThrough) {
  EXPECT_EQ(found("50 e8 00 10 00 00 58 c3 48 89 c7 58 c3"), "1007 ret, 100c ret");
  std::string jumps_on = "c3 58 e9 fa 0f 00 00";
  EXPECT_THAT(found(jumps_on), HasSubstr("at 0x1002 it jumps to what may be a part of itself"));
  EXPECT_EQ(found(jumps_on, {.is_function = [](uint64_t to) { return to == 0x2001; }}),
            "1000 ret, 1002 tail jump 2001");
}

class Frames : public testing::TestWithParam<const char*> {};

TEST_P(Frames, AreGoneAtATailJump) {
  EXPECT_THAT(found(std::string{GetParam()} + " e9 00 10 00 00"), HasSubstr(" tail jump"));
  EXPECT_THAT(found(std::string{GetParam()} + " ff 27"), HasSubstr(" indirect tail jump"));
  EXPECT_THAT(found(std::string{GetParam()} + " 53 e9 00 10 00 00"),
              HasSubstr("a part of itself that is not known"));
}

INSTANTIATE_TEST_SUITE_P(
    ExitsOf, Frames,
    testing::Values("55 5d", "41 57 41 5f", "48 83 ec 18 48 83 c4 18", "6a 01 58",
                    "68 00 00 00 00 59", "48 81 ec 00 10 00 00 48 81 c4 00 10 00 00", "9c 9d",
                    "ff 37 8f 07", "55 48 89 e5 48 83 ec 10 c9", "55 48 89 e5 48 29 c4 c9",
                    "55 48 89 e5 53 48 83 e4 e0 48 8d 65 f8 5b 5d", "50 48 8d 64 24 08",
                    "55 48 89 e5 50 48 89 ec 5d", "48 8d 6c 24 80 50 48 8d a5 80 00 00 00"));

TEST(ExitsOf, WhatIsOnTheStackIsNotGuessed) {
  EXPECT_THAT(found("48 29 c4 ff 27"), HasSubstr("where to is unknown"));  // sub %rax,%rsp
  EXPECT_THAT(found("48 83 e4 e0 ff 27"), HasSubstr("where to is unknown"));
  EXPECT_THAT(found("5c ff 27"), HasSubstr("where to is unknown"));  // pop %rsp
  // Two paths to the jump, one of them with one more push.
  EXPECT_THAT(found("85 ff 74 01 50 ff 27"), HasSubstr("where to is unknown"));
}

TEST(ExitsOf, AGivenPartIsOfTheFunction) {
  Bytes body = bytes("50 74 05 58 c3");     // je 0x1008
  Bytes part = bytes("0f 1f 00 eb f6 c3");  // at 0x1008: nop, jmp 0x1003, ret
  CodeRange others[] = {{0x1008, part}};
  FunctionCode function{.body = {kBody, body}, .extent = Extent::whole, .others = others};
  EXPECT_EQ(words(find_exits(function)), "1004 ret, 100d ret");
}

Surroundings with_part(uint64_t address, const Bytes& code) {
  return {.part_at = [address, &code](uint64_t to) {
    return to - address < code.size() ? std::optional{CodeRange{address, code}} : std::nullopt;
  }};
}

TEST(ExitsOf, APartIsAskedForWhereSomethingIsOnTheStack) {
  Bytes part = bytes("58 c3");
  EXPECT_EQ(found("50 e9 fa 0f 00 00", with_part(0x2000, part)), "2001 ret");
  EXPECT_THAT(found("50 e9 fa 0f 00 00", with_part(0x3000, part)), HasSubstr("not known"));
}

TEST(ExitsOf, APartIsKnownByJumpingBackOrNeverReturning) {
  EXPECT_EQ(found("74 7e 90 c3", with_part(0x1080, bytes("90 eb 80"))), "1003 ret");
  EXPECT_EQ(found("74 7e 90 c3", with_part(0x1080, bytes("e8 00 10 00 00"))), "1003 ret");
  EXPECT_THAT(found("74 7e 90 c3", with_part(0x1080, bytes("90 c3"))), HasSubstr("condition"));
  EXPECT_EQ(found("eb 7e", with_part(0x1080, bytes("90 c3"))), "1000 tail jump 1080");
  // Another function may jump to this one's entry.
  EXPECT_EQ(found("eb 7e", with_part(0x1080, bytes("74 05 e9 79 ff ff ff c3"))),
            "1000 tail jump 1080");
}

TEST(ExitsOf, AJumpOverALockPrefixIsToTheInstruction) {
  EXPECT_EQ(found("74 01 f0 48 0f b1 17 c3"), "1007 ret");
  EXPECT_THAT(found("74 01 f2 48 0f b1 17 c3"), HasSubstr("middle of an instruction"));
}

class NoExits : public testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(NoExits, SayingWhy) {
  auto exits = exits_of(GetParam().first);
  ASSERT_FALSE(exits) << words(exits);
  EXPECT_EQ(exits.error().code, Code::unsupported);
  EXPECT_THAT(exits.error().message, HasSubstr(GetParam().second));
}

INSTANTIATE_TEST_SUITE_P(
    ExitsOf, NoExits,
    testing::Values(std::pair{"90 06 c3", "at 0x1001 the bytes are no instruction"},
                    std::pair{"c3 48", "at 0x1001 the bytes are no instruction"},
                    std::pair{"eb 01 48 89 c3 c3", "at 0x1000 it jumps into the middle"},
                    std::pair{"e8 01 00 00 00 90 c3", "calls a place within the function"},
                    std::pair{"e3 7e c3", "something else than the flags"},            // jrcxz
                    std::pair{"e2 7e c3", "something else than the flags"},            // loop
                    std::pair{"e2 fe c3", "own entry by a branch on something else"},  // loop
                    std::pair{"53 eb fd", "own entry with something left on the stack"},
                    std::pair{"cb", "another segment"}, std::pair{"48 cf", "another segment"},
                    std::pair{"ff 2f", "another segment"},
                    std::pair{"85 ff 74 01 c3 90", "at 0x1005 its code runs on past its end"},
                    std::pair{"e8 00 10 00 00 50", "runs on past its end"},
                    std::pair{"", "does not say how long it is"}));

TEST(ExitsOf, ACallOfItselfIsNoMatter) { EXPECT_EQ(found("e8 fb ff ff ff c3"), "1005 ret"); }

TEST(ExitsOf, AFunctionOfUnknownExtentIsRefused) {
  Bytes code = bytes("c3");
  EXPECT_THAT(words(find_exits({.body = {kBody, code}, .extent = Extent::unknown})),
              HasSubstr("does not say how long it is"));
}

}  // namespace
}  // namespace tracectl
