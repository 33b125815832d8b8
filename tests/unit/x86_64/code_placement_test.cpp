// SPDX-License-Identifier: BSD-2-Clause
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "daemon/object/code/instruction.h"
#include "daemon/object/code/placement.h"
#include "tests/support/hex_code.h"

namespace tracectl {
namespace {

Result<Placement> entry_of(const std::string& hex, Extent extent = Extent::whole) {
  Bytes code = bytes(hex);
  return place_entry({.body = {0x1000, code}, .extent = extent});
}

Status nop5_at(const std::string& hex, uint64_t offset, Extent extent = Extent::whole) {
  Bytes code = bytes(hex);
  return nop5_is_safe({.body = {0x1000, code}, .extent = extent}, offset);
}

const Placement kSlowEntryOf4{0, CostClass::slow, 4};

TEST(Placement, AnInstructionsStartIsAPlace) {
  Bytes code = bytes("f3 0f 1e fa 55 48 89 e5 c3");
  EXPECT_EQ(*place(code, 0), (Placement{0, CostClass::slow, 4}));
  EXPECT_EQ(*place(code, 4), (Placement{0, CostClass::normal, 1}));
  EXPECT_EQ(*place(code, 8), (Placement{0, CostClass::slow, 1}));
}

TEST(Placement, TheMiddleOfAnInstructionIsRefusedNamingTheInstruction) {
  auto refused = place(bytes("f3 0f 1e fa 55 48 89 e5 c3"), 6);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("from +5 to +8"), std::string::npos)
      << refused.error().message;
}

TEST(Placement, WhatLiesBehindTheFunctionOrUndecodableBytesIsRefused) {
  EXPECT_EQ(place(bytes("90 c3"), 2).error().code, Code::invalid);
  EXPECT_EQ(place({}, 0).error().code, Code::invalid);
  EXPECT_EQ(place(bytes("90 06 90 c3"), 2).error().code, Code::unsupported);
  EXPECT_EQ(place(bytes("90 cc c3"), 1).error().code, Code::unsupported);
}

TEST(Entry, AFastOrNormalFirstInstructionStays) {
  EXPECT_EQ(*entry_of("0f 1f 44 00 00 c3"), (Placement{0, CostClass::fast, 5}));
  EXPECT_EQ(*entry_of("55 c3"), (Placement{0, CostClass::normal, 1}));
}

TEST(Entry, ASlowOneMovesToTheFirstEmulatedInstruction) {
  EXPECT_EQ(*entry_of("f3 0f 1e fa 41 57 c3"), (Placement{4, CostClass::normal, 2}));  // push %r15
  EXPECT_EQ(*entry_of("48 83 ec 08 85 ff 74 02 90 90 c3"),
            (Placement{6, CostClass::normal, 2}));  // je
  EXPECT_EQ(*entry_of("48 83 ec 08 e8 00 00 00 00 c3"),
            (Placement{4, CostClass::normal, 5}));  // call
}

TEST(Entry, StaysWhereTheExtentIsUnknown) {
  EXPECT_EQ(*entry_of("f3 0f 1e fa 55 c3", Extent::unknown), kSlowEntryOf4);
}

TEST(Entry, DoesNotPassAWriteOfAnArgumentRegister) {
  for (const char* write : {"31 ff",     // xor %edi,%edi
                            "40 b7 01",  // mov $1,%dil: a part of it
                            "b6 01",     // mov $1,%dh
                            "4c 87 c8",  // xchg %r9,%rax
                            "0f 44 f0",  // cmove %eax,%esi
                            "f3 a4",     // rep movsb: rdi, rsi and rcx, unnamed
                            "0f a2",     // cpuid
                            "48 99",     // cqto: rdx
                            "5f"})       // pop %rdi
    EXPECT_EQ(*entry_of(std::string{"48 83 ec 08 "} + write + " 55 c3"), kSlowEntryOf4) << write;
  EXPECT_EQ(entry_of("48 83 ec 08 48 89 f8 39 f7 55 c3")->moved_bytes, 9u);  // only reads them
}

TEST(Entry, DoesNotPassAControlTransfer) {
  for (const char* transfer :
       {"c3", "0f 0b", "0f 05", "e2 00", "e3 00", "ff d0", "ff 25 00 00 00 00"})
    EXPECT_EQ(*entry_of(std::string{"48 83 ec 08 "} + transfer + " 55 c3"), kSlowEntryOf4)
        << transfer;
}

TEST(Entry, DoesNotMoveOntoOrPastAJumpTarget) {
  EXPECT_EQ(*entry_of("48 83 ec 08 55 85 ff eb fb"), kSlowEntryOf4);                 // jmp +4
  EXPECT_EQ(*entry_of("48 83 ec 08 85 c0 55 0f 85 f7 ff ff ff c3"), kSlowEntryOf4);  // jne +4
  EXPECT_EQ(entry_of("48 83 ec 08 55 eb f9")->moved_bytes, 4u);  // jmp +0: the entry again
}

TEST(Entry, DoesNotMoveWhereAnotherPartOfTheFunctionJumpsTo) {
  Bytes body = bytes("48 83 ec 08 55 c3");
  Bytes cold = bytes("e9 ff 0f 00 00");  // from 0x0 to 0x1004
  CodeRange others[] = {{0, cold}};
  EXPECT_EQ(*place_entry({.body = {0x1004 - 4, body}, .extent = Extent::whole}),
            (Placement{4, CostClass::normal, 1}));
  EXPECT_EQ(*place_entry({.body = {0x1000, body}, .extent = Extent::whole, .others = others}),
            kSlowEntryOf4);
}

TEST(Entry, PassesOnlyEndbrWhereAJumpTableCouldLeadAnywhere) {
  EXPECT_EQ(*entry_of("48 83 ec 08 55 ff e0"), kSlowEntryOf4);
  EXPECT_EQ(entry_of("f3 0f 1e fa 55 ff e0")->moved_bytes, 4u);
  EXPECT_EQ(*entry_of("f3 0f 1e fa 48 83 ec 08 55 ff e0"), kSlowEntryOf4);
}

TEST(Entry, NeverMovesToA5ByteNop) {
  EXPECT_EQ(*entry_of("f3 0f 1e fa 0f 1f 44 00 00 c3"), kSlowEntryOf4);
  EXPECT_EQ(entry_of("f3 0f 1e fa 0f 1f 44 00 00 55 c3")->moved_bytes, 9u);
}

TEST(Entry, StaysWhereTheFunctionCannotBeDecodedToItsEnd) {
  EXPECT_EQ(*entry_of("48 83 ec 08 55 c3 06"), kSlowEntryOf4);
}

TEST(Entry, LooksNoFurtherThan16Instructions) {
  std::string sixteen;
  for (int i = 0; i < 16; ++i) sixteen += "48 85 c0 ";  // test %rax,%rax
  EXPECT_EQ(entry_of(sixteen + "55 c3")->moved_bytes, 48u);
  EXPECT_EQ(entry_of(sixteen + "48 85 c0 55 c3")->moved_bytes, 0u);
}

// The site of <tracectl/usdt.h>.
constexpr const char* kSite = "90 66 2e 0f 1f 84 00 00 00 00 00 0f 1f 44 00 00 c3";
constexpr SiteCosts kBoth{CostClass::fast, CostClass::fast},
    kOnlyTen{CostClass::normal, CostClass::fast}, kOnlyFive{CostClass::fast, std::nullopt},
    kNeither{CostClass::slow, std::nullopt};

TEST(HeaderSite, TheCheapestNopIsTaken) {
  EXPECT_EQ(place_in_header_site(kBoth), (Placement{1, CostClass::fast, 10}));
  EXPECT_EQ(place_in_header_site(kOnlyTen), (Placement{1, CostClass::fast, 10}));
  EXPECT_EQ(place_in_header_site(kOnlyFive), (Placement{11, CostClass::fast, 5}));
  EXPECT_EQ(place_in_header_site(kNeither), (Placement{0, CostClass::normal, 1}));
}

TEST(HeaderSite, PlacesAreItsNops) {
  const auto site = bytes(kSite);
  ASSERT_TRUE(is_header_site(site));
  for (const SiteCosts& costs : {kBoth, kOnlyTen, kOnlyFive, kNeither}) {
    const Placement placed = place_in_header_site(costs);
    EXPECT_EQ(*place(site, placed.moved_bytes, costs), (Placement{0, placed.cost, placed.length}));
  }
}

// Other nops before a return may be jumped to: two probes of <sys/sdt.h> and padding.
TEST(HeaderSite, IsNothingElse) {
  EXPECT_FALSE(is_header_site(bytes("90 90 66 2e 0f 1f 84 00 00 00 00 00 c3")));
  EXPECT_FALSE(is_header_site(bytes("90 66 2e 0f 1f 84 00 00 00 00 00 0f 1f 44 00 00")));
}

TEST(LeadsToReturn, ByNopsAlone) {
  EXPECT_TRUE(leads_to_return(bytes(kSite)));
  EXPECT_FALSE(leads_to_return(bytes("c3")));
  EXPECT_FALSE(leads_to_return(bytes("90 66 2e 0f 1f 84 00 00 00 00 00 31 c0 c3")));
  EXPECT_FALSE(leads_to_return(bytes("90 90 90 90 90 90 90 90 90 90 c3")));  // not looked at so far
}

TEST(Entry, MovesToA10ByteNopThatIsFastButNotToA5ByteNop) {
  const auto ten = bytes("48 83 ec 08 66 2e 0f 1f 84 00 00 00 00 00 e8 00 00 00 00 c3");
  const auto five = bytes("48 83 ec 08 0f 1f 44 00 00 90 e8 00 00 00 00 c3");
  const auto placed = [](const auto& code, const SiteCosts& costs) {
    return *place_entry({.body = {0x1000, code}, .extent = Extent::whole}, costs);
  };
  EXPECT_EQ(placed(ten, kOnlyTen), (Placement{4, CostClass::fast, 10}));
  EXPECT_EQ(placed(ten, kNeither), (Placement{14, CostClass::normal, 5}));
  EXPECT_EQ(placed(five, kBoth), (Placement{9, CostClass::normal, 1}));
}

constexpr const char* kFrameless = "48 83 ec 18 0f 1f 44 00 00 e8 00 00 00 00 48 83 c4 18 c3";

TEST(RedZone, ANop5AtTheEntryIsSafe) {
  EXPECT_TRUE(nop5_at("0f 1f 44 00 00 c3", 0, Extent::unknown));
}

// A leaf with variables in the red zone: nothing reads them any more.
TEST(RedZone, ANop5BeforeAReturnIsSafe) {
  EXPECT_TRUE(nop5_at("48 89 7c 24 f8 0f 1f 44 00 00 c3", 5));
  EXPECT_TRUE(nop5_at("48 89 7c 24 f8 0f 1f 44 00 00 c3", 5, Extent::unknown));
  EXPECT_FALSE(nop5_at("48 89 7c 24 f8 0f 1f 44 00 00", 5));
  EXPECT_TRUE(nop5_at("48 89 7c 24 f8 0f 1f 44 00 00 90 c3", 5));
  EXPECT_FALSE(nop5_at("48 89 7c 24 f8 0f 1f 44 00 00 8b 44 24 f8 c3", 5));  // reads it
}

TEST(RedZone, ANop5InAFunctionThatCallsIsSafe) { EXPECT_TRUE(nop5_at(kFrameless, 4)); }

TEST(RedZone, RefusedInALeaf) {
  auto refused = nop5_at("55 48 89 e5 89 7d fc 0f 1f 44 00 00 5d c3", 7);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("calls no other"), std::string::npos)
      << refused.error().message;
}

TEST(RedZone, RefusedWhereAnythingBelowTheStackPointerIsUsed) {
  EXPECT_FALSE(nop5_at("48 89 7c 24 f8 0f 1f 44 00 00 e8 00 00 00 00 c3", 5));
  EXPECT_FALSE(nop5_at("48 8d 44 24 f8 0f 1f 44 00 00 e8 00 00 00 00 c3", 5));  // lea -8(%rsp),%rax
  EXPECT_TRUE(nop5_at("48 8d 64 24 f8 0f 1f 44 00 00 e8 00 00 00 00 c3", 5));   // lea -8(%rsp),%rsp
}

TEST(RedZone, RefusedWhereTheFunctionsEndIsUnknownOrItCannotBeDecoded) {
  EXPECT_FALSE(nop5_at(kFrameless, 4, Extent::unknown));
  EXPECT_FALSE(nop5_at(std::string{kFrameless} + " 06", 4));
}

TEST(RedZone, WhereThereIsNoNop5TheQuestionIsWrong) {
  EXPECT_EQ(nop5_at(kFrameless, 0).error().code, Code::invalid);
  EXPECT_EQ(nop5_at(kFrameless, 1000).error().code, Code::invalid);
}

}  // namespace
}  // namespace tracectl
