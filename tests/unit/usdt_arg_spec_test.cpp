// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/object/arg_spec.h"

#include <gtest/gtest.h>

namespace tracectl {
namespace {

using Place = Argument::Place;

Arguments parse(std::string_view text) {
  return parse_arguments(text, [](std::string_view name) -> std::optional<uint64_t> {
    if (name == "counter") return 0x4000;
    return std::nullopt;
  });
}

Argument one(std::string_view text) {
  const auto all = parse(text);
  EXPECT_EQ(all.size(), 1u) << text;
  return all.empty() ? Argument{} : all[0];
}

Argument constant(int64_t value, uint8_t size, bool is_signed) {
  return {.place = Place::constant, .size_bytes = size, .is_signed = is_signed, .offset = value};
}

Argument in_register(Register reg, uint8_t size, bool is_signed = false) {
  return {.place = Place::in_register, .size_bytes = size, .is_signed = is_signed, .base = reg};
}

Argument in_memory(int64_t offset, Register base, uint8_t size, bool is_signed = false) {
  return {.place = Place::memory,
          .size_bytes = size,
          .is_signed = is_signed,
          .base = base,
          .offset = offset};
}

struct Case {
  const char* text;
  Argument expected;
};

class ArgSpecReads : public ::testing::TestWithParam<Case> {};

TEST_P(ArgSpecReads, AsTheAssemblerMeansIt) {
  Argument expected = GetParam().expected;
  expected.text = GetParam().text;
  EXPECT_EQ(one(GetParam().text), expected);
}

Argument with(Argument argument, auto change) {
  change(argument);
  return argument;
}

const Case kCases[] = {
    {"-4@$5", constant(5, 4, true)},
    {"8@$0x123456789abcdef", constant(0x123456789abcdef, 8, false)},
    {"-8@$-9223372036854775808", constant(INT64_MIN, 8, true)},
    {"8@$18446744073709551615", constant(-1, 8, false)},
    {"$42", constant(42, 8, false)},
    {"-4@%esi", in_register(Register::rsi, 4, true)},
    {"8@%rax", in_register(Register::rax, 8)},
    {"2@%ax", in_register(Register::rax, 2)},
    {"1@%bpl", in_register(Register::rbp, 1)},
    {"1@%dil", in_register(Register::rdi, 1)},
    {"-1@%r9b", in_register(Register::r9, 1, true)},
    {"2@%r10w", in_register(Register::r10, 2)},
    {"4@%r15d", in_register(Register::r15, 4)},
    {"8@%r8", in_register(Register::r8, 8)},
    {"%edx", in_register(Register::rdx, 4)},  // the old form without a size
    {"1@%ah", with(in_register(Register::rax, 1), [](Argument& a) { a.high_byte = true; })},
    {"8f@%rcx", with(in_register(Register::rcx, 8), [](Argument& a) { a.is_float = true; })},
    {"-4@-20(%rbp)", in_memory(-20, Register::rbp, 4, true)},
    {"8@(%rsp)", in_memory(0, Register::rsp, 8)},
    {"8@8(%rsp)", in_memory(8, Register::rsp, 8)},
    {"4@0x10(%rdi)", in_memory(16, Register::rdi, 4)},
    {"8@8+16(%rax)", in_memory(24, Register::rax, 8)},
    {"8@32-8(%rax)", in_memory(24, Register::rax, 8)},
    {"8@16(%rax,%rbx,4)", with(in_memory(16, Register::rax, 8),
                               [](Argument& a) {
                                 a.index = Register::rbx;
                                 a.scale = 4;
                               })},
    {"8@(%rax,%rbx)",
     with(in_memory(0, Register::rax, 8), [](Argument& a) { a.index = Register::rbx; })},
    {"8@(,%rbx,8)", with(in_memory(0, Register::none, 8),
                         [](Argument& a) {
                           a.index = Register::rbx;
                           a.scale = 8;
                         })},
    {"4@counter(%rip)",
     with(in_memory(0x4000, Register::none, 4), [](Argument& a) { a.link_relative = true; })},
    {"4@counter+8(%rip)",
     with(in_memory(0x4008, Register::none, 4), [](Argument& a) { a.link_relative = true; })},
    {"4@8+counter(%rip)",
     with(in_memory(0x4008, Register::none, 4), [](Argument& a) { a.link_relative = true; })},
    {"4@counter",
     with(in_memory(0x4000, Register::none, 4), [](Argument& a) { a.link_relative = true; })},
};
INSTANTIATE_TEST_SUITE_P(Forms, ArgSpecReads, ::testing::ValuesIn(kCases));

class ArgSpecUnreadable : public ::testing::TestWithParam<const char*> {};

TEST_P(ArgSpecUnreadable, CostsTheArgumentAndKeepsItsText) {
  const Argument argument = one(GetParam());
  EXPECT_EQ(argument.place, Place::unreadable);
  EXPECT_EQ(argument.text, GetParam());
}

INSTANTIATE_TEST_SUITE_P(Forms, ArgSpecUnreadable,
                         ::testing::Values("8f@%xmm0", "8@%st", "3@%rax", "0@%rax", "16@%rax",
                                           "-4@", "@%rax", "4@%", "4@%r16d", "4@%r7d", "8@%r8x",
                                           "4@unknown(%rip)", "4@8(%rip)", "4@$", "4@$x", "8@(%rax",
                                           "8@(%rax,%rip,2)", "8@(%rax,%rbx,3)", "8@(%rax)x",
                                           "8@counter+counter(%rip)", "99999999999@%rax",
                                           "8@$99999999999999999999", "8@16(%zax)"));

TEST(ArgSpec, OneOfAnotherSizeHasNoPlaceAndItsSizeAsType) {
  const std::pair<const char*, const char*> kTypes[] = {
      {"16@-64(%rbp)", "16 bytes"},       {"16@%rcx", "16 bytes"},
      {"-16@8(%rsp)", "16-byte integer"}, {"16f@%rcx", "16-byte float"},
      {"3@-115(%rbp)", "3 bytes"},        {"32@(%rsp)", "32 bytes"}};
  for (const auto& [text, type] : kTypes) {
    const Argument argument = one(text);
    EXPECT_EQ(argument.place, Place::unreadable) << text;
    EXPECT_EQ(argument.kind, Argument::Kind::aggregate) << text;
    EXPECT_EQ(type_name(argument), type) << text;
  }
}

TEST(ArgSpec, OneThatCannotBeReadLeavesTheOthers) {
  const auto all = parse("-4@%edi 8f@%xmm0  8@(%rsp)\t2@$7");
  ASSERT_EQ(all.size(), 4u);
  EXPECT_EQ(all[0].place, Place::in_register);
  EXPECT_EQ(all[1].place, Place::unreadable);
  EXPECT_EQ(all[2].place, Place::memory);
  EXPECT_EQ(all[3].place, Place::constant);
}

TEST(ArgSpec, NothingButSpaceIsNoArgument) {
  EXPECT_TRUE(parse("").empty());
  EXPECT_TRUE(parse(" \t ").empty());
}

TEST(ArgSpec, MoreThanAProbeCanHaveAreLeftOut) {
  std::string text;
  for (int i = 0; i < 20; ++i) text += "4@%eax ";
  EXPECT_EQ(parse(text).size(), kMostArguments);
}

}  // namespace
}  // namespace tracectl
