// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/sandbox/stack_wire.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/sandbox/wire.h"
#include "tests/support/must.h"

namespace tracectl {
namespace {

using on_kernel::must;
using testing::HasSubstr;

constexpr uint64_t kRip = 0x401000, kCaller = 0x402000;

std::shared_ptr<RawStack> copy_of(size_t bytes) {
  auto copy = std::make_shared<RawStack>();
  copy->most_frames = 3;
  for (size_t i = 0; i < copy->registers.size(); ++i) copy->registers[i] = i << 40;
  copy->registers.back() = kRip;
  copy->start = 0x7ffe00000000;
  copy->bytes.assign(bytes, std::byte{0x5a});
  return copy;
}

Frame frame(const std::string& function, bool inlined) {
  Frame made;
  made.address = kRip;
  made.build_id = "0123abcd";
  made.offset = 0x1000;
  made.function = function;
  made.function_offset = 5;
  made.file = "dir/a.c";
  made.line = 17;
  made.inlined = inlined;
  return made;
}

const StackQuestion kOneCopy = Copies{copy_of(64)};
const StackQuestion kOneAddress = std::vector<CodeAddress>{{kRip, false}};

Result<StackAnswer> heard(const StackAnswer& answer, const StackQuestion& question) {
  return wire::decode_stack_answer(wire::encode(answer), question);
}

void expect_untrue(const Result<StackAnswer>& answer) {
  ASSERT_FALSE(answer);
  EXPECT_THAT(answer.error().message, HasSubstr("cannot be true"));
}

StackAnswer unwound(std::vector<uint64_t> addresses) {
  Unwound one{.end = StackEnd::limit, .addresses = std::move(addresses)};
  one.stack_pointers.assign(one.addresses.size(), 0x7ffe00000010);
  return std::vector<Unwound>{one};
}

StackAnswer frames(Frames all) { return std::vector<Frames>{std::move(all)}; }

TEST(StackWire, QuestionsAreWhatWasAsked) {
  const StackQuestion copies = Copies{copy_of(0), copy_of(16 << 10)};
  const auto heard_copies = wire::decode_stack_question(wire::encode(copies));
  ASSERT_TRUE(heard_copies);
  for (size_t i = 0; i < 2; ++i) {
    const RawStack& one = *std::get<Copies>(copies)[i];
    const RawStack& other = *std::get<Copies>(*heard_copies)[i];
    EXPECT_EQ(one.most_frames, other.most_frames);
    EXPECT_EQ(one.registers, other.registers);
    EXPECT_EQ(one.start, other.start);
    EXPECT_EQ(one.bytes, other.bytes);
  }
  const StackQuestion addresses = std::vector<CodeAddress>{{1, true}, {UINT64_MAX, false}};
  EXPECT_EQ(wire::decode_stack_question(wire::encode(addresses)), addresses);
}

TEST(StackWire, PlacesAreWhereTheFileIs) {
  const wire::LoadedPlace place{"/usr/bin/f", {{0x1000, 0x2000, 0}, {0x5000, 0x6000, 0x4000}}};
  const auto heard_place = wire::decode_place(wire::encode(place));
  ASSERT_TRUE(heard_place);
  EXPECT_EQ(heard_place->path, place.path);
  EXPECT_EQ(heard_place->ranges, place.ranges);
}

TEST(StackWire, AnswersAreWhatWasSaid) {
  const StackAnswer stack = unwound({kRip, kCaller});
  EXPECT_EQ(must(heard(stack, kOneCopy)), stack);
  const StackAnswer named = frames({frame("inner", true), frame("outer", false)});
  EXPECT_EQ(must(heard(named, kOneAddress)), named);
  EXPECT_EQ(must(heard(frames({}), kOneAddress)), frames({}));
}

TEST(StackWire, LongNamesAreCut) {
  const auto answer = must(heard(frames({frame(std::string(1 << 20, 'f'), false)}), kOneAddress));
  const Frame& named = std::get<std::vector<Frames>>(answer)[0][0];
  EXPECT_EQ(named.function, std::string(16 << 10, 'f'));
}

TEST(StackWire, AStackBeginsWhereItsThreadWas) {
  expect_untrue(heard(unwound({kCaller, kRip}), kOneCopy));
  expect_untrue(heard(unwound({}), kOneCopy));
}

TEST(StackWire, AStackHasNoMoreFramesThanWereAskedFor) {
  EXPECT_TRUE(heard(unwound({kRip, 1, 2}), kOneCopy));
  expect_untrue(heard(unwound({kRip, 1, 2, 3}), kOneCopy));
}

TEST(StackWire, OnlyTheLastFrameIsAFunctionsOwn) {
  expect_untrue(heard(frames({frame("f", true)}), kOneAddress));
  expect_untrue(heard(frames({frame("f", false), frame("g", false)}), kOneAddress));
}

TEST(StackWire, ABuildIdIsHex) {
  Frame made = frame("f", false);
  made.build_id = "../../etc";
  expect_untrue(heard(frames({made}), kOneAddress));
}

TEST(StackWire, AnAnswerHasAsManyPartsAsTheQuestion) {
  const Unwound one{.end = {}, .addresses = {kRip}, .stack_pointers = {0}};
  expect_untrue(heard(std::vector<Unwound>{one, one}, kOneCopy));
  expect_untrue(heard(std::vector<Unwound>{}, kOneCopy));
  expect_untrue(heard(frames({frame("f", false)}), kOneCopy));
}

TEST(StackWire, NoPrefixOfAnAnswerIsOne) {
  for (const auto& [answer, question] :
       {std::pair{unwound({kRip, kCaller}), kOneCopy},
        std::pair{frames({frame("inner", true), frame("outer", false)}), kOneAddress}}) {
    const std::string whole = wire::encode(answer);
    for (size_t size = 0; size < whole.size(); ++size)
      EXPECT_FALSE(wire::decode_stack_answer(whole.substr(0, size), question)) << size;
  }
}

TEST(StackWire, WhatFailedIsSaid) {
  const auto answer =
      wire::decode_stack_answer(wire::encode(Error{Code::invalid, "it is damaged"}), kOneCopy);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().message, "it is damaged");
}

}  // namespace
}  // namespace tracectl
