// SPDX-License-Identifier: BSD-2-Clause
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "daemon/object/code/call_targets.h"

namespace tracectl {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Bytes = std::vector<uint8_t>;

constexpr uint64_t kAddress = 0x1000;

Bytes bytes(const std::string& hex) {
  std::istringstream in{hex};
  Bytes code;
  for (unsigned byte = 0; in >> std::hex >> byte;) code.push_back(static_cast<uint8_t>(byte));
  return code;
}

CallTargets targets_of(const std::string& hex) {
  const Bytes code = bytes(hex);
  return call_targets({.body = {kAddress, code}, .extent = Extent::whole});
}

std::optional<uint64_t> slot_of(const std::string& hex) {
  const Bytes code = bytes(hex);
  return slot_of_stub({kAddress, code});
}

TEST(CallTargets, AreWhereDirectCallsAndJumpsLead) {
  EXPECT_THAT(targets_of("e8 fb 0f 00 00").called, ElementsAre(0x2000));
  EXPECT_THAT(targets_of("67 e8 fa 0f 00 00").called,
              ElementsAre(0x2000));  // relaxed by the linker
  EXPECT_THAT(targets_of("e9 fb 0f 00 00").called, ElementsAre(0x2000));
  EXPECT_THAT(targets_of("eb 7e").called, ElementsAre(0x1080));
  EXPECT_THAT(targets_of("0f 84 fa 0f 00 00").called, ElementsAre(0x2000));
  EXPECT_THAT(targets_of("e8 fb ef ff ff").called, ElementsAre(0x0));
  EXPECT_FALSE(targets_of("e8 fb 0f 00 00").calls_unknown);
}

TEST(CallTargets, AreSortedAndEachOnce) {
  EXPECT_THAT(targets_of("e8 fb 1f 00 00 e8 f6 0f 00 00 e8 f1 1f 00 00").called,
              ElementsAre(0x2000, 0x3000));
}

TEST(CallTargets, AreNotInTheFunctionItself) {
  EXPECT_THAT(targets_of("90 eb fd").called, IsEmpty());
  EXPECT_THAT(targets_of("e8 fb ff ff ff").called, IsEmpty());
  EXPECT_THAT(targets_of("48 8d 05 f9 ff ff ff").referred, IsEmpty());
}

TEST(CallTargets, AreThoseOfAllPartsAndNotBetweenThem) {
  const Bytes body = bytes("0f 84 7a 00 00 00 c3");           // je 0x1080
  const Bytes part = bytes("e8 7b 0f 00 00 e9 76 ff ff ff");  // call 0x2000; jmp 0x1000
  const CodeRange others[] = {{0x1080, part}};
  const auto found =
      call_targets({.body = {kAddress, body}, .extent = Extent::whole, .others = others});
  EXPECT_THAT(found.called, ElementsAre(0x2000));
}

TEST(CallTargets, ASlotIsWhereAnIndirectCallReads) {
  EXPECT_THAT(targets_of("ff 15 fa 0f 00 00").slots, ElementsAre(0x2000));
  EXPECT_THAT(targets_of("ff 25 fa 0f 00 00").slots, ElementsAre(0x2000));
  EXPECT_THAT(targets_of("f2 ff 25 f9 0f 00 00").slots, ElementsAre(0x2000));
  EXPECT_THAT(targets_of("ff 14 25 40 40 40 00").slots, ElementsAre(0x404040));  // call *0x404040
  EXPECT_FALSE(targets_of("ff 15 fa 0f 00 00").calls_unknown);
}

TEST(CallTargets, ACallThroughARegisterOrComputedMemoryIsUnknown) {
  EXPECT_TRUE(targets_of("ff d0").calls_unknown);        // call *%rax
  EXPECT_TRUE(targets_of("ff 50 18").calls_unknown);     // call *0x18(%rax)
  EXPECT_TRUE(targets_of("41 ff 14 c4").calls_unknown);  // call *(%r12,%rax,8)
  EXPECT_TRUE(targets_of("ff 60 18").calls_unknown);     // jmp *0x18(%rax)
  EXPECT_THAT(targets_of("ff 50 18").slots, IsEmpty());
}

TEST(CallTargets, ASwitchIsNoCall) {
  EXPECT_FALSE(targets_of("ff e0").calls_unknown);
  EXPECT_FALSE(targets_of("ff 24 c5 00 20 40 00").calls_unknown);  // jmp *0x402000(,%rax,8)
}

TEST(CallTargets, AnAddressThatIsFormedIsReferredTo) {
  EXPECT_THAT(targets_of("48 8d 05 f9 0f 00 00").referred, ElementsAre(0x2000));
  EXPECT_THAT(targets_of("4c 8d 3d f9 0f 00 00").referred, ElementsAre(0x2000));
  EXPECT_THAT(targets_of("48 8d 47 08").referred, IsEmpty());  // lea 8(%rdi),%rax
}

TEST(CallTargets, AWordThatIsReadOrWrittenIsLoaded) {
  EXPECT_THAT(targets_of("48 8b 05 f9 0f 00 00").loaded, ElementsAre(0x2000));
  EXPECT_THAT(targets_of("48 89 05 f9 0f 00 00").loaded, ElementsAre(0x2000));
  EXPECT_THAT(targets_of("48 83 3d f8 0f 00 00 00").loaded, ElementsAre(0x2000));  // cmpq $0
  EXPECT_THAT(targets_of("48 8b 05 f9 0f 00 00").referred, IsEmpty());
}

TEST(CallTargets, AVectorHasSeveralWords) {
  EXPECT_THAT(targets_of("66 0f 6f 05 f8 0f 00 00").loaded, ElementsAre(0x2000, 0x2008));
  EXPECT_THAT(targets_of("c5 fd 6f 05 f8 0f 00 00").loaded,
              ElementsAre(0x2000, 0x2008, 0x2010, 0x2018));
  EXPECT_THAT(targets_of("f3 0f 7e 05 f8 0f 00 00").loaded, ElementsAre(0x2000));  // movq
}

TEST(CallTargets, NumbersOf32BitsMayBeAddresses) {
  EXPECT_THAT(targets_of("bf 36 11 40 00").constants, ElementsAre(0x401136));
  EXPECT_THAT(targets_of("48 c7 c0 36 11 40 00").constants, ElementsAre(0x401136));
  EXPECT_THAT(targets_of("48 b8 36 11 40 00 01 00 00 00").constants, ElementsAre(0x100401136));
  EXPECT_THAT(targets_of("48 c7 05 f5 0f 00 00 36 11 40 00").constants, ElementsAre(0x401136));
  EXPECT_THAT(targets_of("68 36 11 40 00").constants, ElementsAre(0x401136));
  EXPECT_THAT(targets_of("48 8b 04 c5 00 20 40 00").constants, ElementsAre(0x402000));
  EXPECT_THAT(targets_of("ff 14 c5 00 20 40 00").constants, ElementsAre(0x402000));
  EXPECT_THAT(targets_of("83 c0 08").constants, IsEmpty());
}

TEST(CallTargets, BytesThatAreNoInstructionArePassedOneByOne) {
  EXPECT_THAT(targets_of("06 06 e8 f9 0f 00 00").called, ElementsAre(0x2000));
  EXPECT_THAT(targets_of("e8 00").called, IsEmpty());
  EXPECT_THAT(targets_of("").called, IsEmpty());
}

TEST(SlotOfStub, IsWhereItJumpsThrough) {
  EXPECT_EQ(slot_of("ff 25 fa 0f 00 00 68 00 00 00 00"), 0x2000);
  EXPECT_EQ(slot_of("f3 0f 1e fa f2 ff 25 f5 0f 00 00"), 0x2000);
  EXPECT_EQ(slot_of("f3 0f 1e fa ff 25 f6 0f 00 00"), 0x2000);
}

TEST(SlotOfStub, OtherCodeHasNone) {
  EXPECT_EQ(slot_of("f3 0f 1e fa 68 00 00 00 00"), std::nullopt);
  EXPECT_EQ(slot_of("55 ff 25 fa 0f 00 00"), std::nullopt);
  EXPECT_EQ(slot_of("ff e0"), std::nullopt);
  EXPECT_EQ(slot_of("ff 15 fa 0f 00 00"), std::nullopt);  // a call
  EXPECT_EQ(slot_of("f3 0f 1e fa"), std::nullopt);
  EXPECT_EQ(slot_of(""), std::nullopt);
}

bool is_sorted_once(const std::vector<uint64_t>& list) {
  return std::ranges::adjacent_find(list, std::greater_equal{}) == list.end();
}

// Random bytes, in which calls are not rare.
TEST(CallTargets, OfAnyBytesAreSortedAndOutside) {
  std::mt19937 random{1};
  const Bytes likely = bytes("e8 e9 eb 0f ff 48 8d 05 15 25 f2 66 67");
  for (int round = 0; round < 20'000; ++round) {
    Bytes code(random() % 64);
    for (uint8_t& byte : code)
      byte = static_cast<uint8_t>(random() % 2 ? likely[random() % likely.size()] : random());
    const size_t cut = random() % (code.size() + 1);
    const CodeRange other{kAddress + cut, std::span{code}.subspan(cut)};
    const auto found = call_targets({.body = {kAddress, std::span{code}.first(cut)},
                                     .extent = Extent::whole,
                                     .others = {&other, 1}});
    for (const auto* list : {&found.called, &found.loaded, &found.referred, &found.constants}) {
      ASSERT_TRUE(is_sorted_once(*list));
      for (const uint64_t address : *list) ASSERT_GE(address - kAddress, code.size());
    }
    ASSERT_TRUE(is_sorted_once(found.slots));
    (void)slot_of_stub({kAddress, code});
  }
}

}  // namespace
}  // namespace tracectl
