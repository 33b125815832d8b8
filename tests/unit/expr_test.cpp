// SPDX-License-Identifier: BSD-2-Clause
#include <gtest/gtest.h>

#include "daemon/spec/parse.h"

using namespace tracectl;

namespace {

Expr parsed(std::string_view text) {
  auto expr = parse_condition(text);
  EXPECT_TRUE(expr) << text << ": " << (expr ? "" : expr.error().message);
  return expr ? *expr : Expr{};
}

std::string canonical(std::string_view text) { return to_string(parsed(text)); }

std::string refusal(std::string_view text, size_t column) {
  auto expr = parse_condition(text);
  if (expr) return "accepted";
  EXPECT_EQ(expr.error().spot.value_or(Spot{}), (Spot{std::string{text}, column})) << text;
  return expr.error().message;
}

bool has(const std::string& text, std::string_view part) { return text.find(part) != text.npos; }

Expr arg(uint64_t index) { return Expr::of_operand(Operand::arg, index); }
Expr number(uint64_t value) { return Expr::of_integer(value); }

std::string repeated(std::string_view text, size_t times) {
  std::string all;
  for (size_t i = 0; i < times; i++) all += text;
  return all;
}

}  // namespace

TEST(Expr, OperandsAndFunctionsAreRead) {
  EXPECT_EQ(parsed("arg11"), arg(11));
  EXPECT_EQ(parsed("cgroup"), Expr::of_operand(Operand::cgroup));
  EXPECT_EQ(parsed("s16(arg0 + 4)"),
            Expr::of_read(Read::s16, Expr::of_binary(Operator::add, arg(0), number(4))));
  EXPECT_EQ(parsed("str(arg1, 5) == \"ab\""),
            Expr::of_binary(Operator::equal, Expr::of_str(arg(1), 5), Expr::of_text("ab")));
  EXPECT_EQ(parsed("str(arg1) =~ \"ab*\""),
            Expr::of_binary(Operator::like, Expr::of_str(arg(1), 64), Expr::of_text("ab*")));
}

TEST(Expr, IntegersAreDecimalOrHex) {
  EXPECT_EQ(parsed("18446744073709551615"), number(UINT64_MAX));
  EXPECT_EQ(parsed("0xFFffFFffFFffFFff"), number(UINT64_MAX));
  EXPECT_EQ(parsed("0"), number(0));
  EXPECT_TRUE(parse_condition("-0x8000000000000000"));
  EXPECT_TRUE(has(refusal("18446744073709551616", 0), "64 bits"));
  EXPECT_TRUE(has(refusal("arg0 == 12ab", 8), "no integer"));
  EXPECT_TRUE(has(refusal("0x", 0), "no integer"));
  EXPECT_TRUE(has(refusal("010", 0), "begin with 0"));
  EXPECT_TRUE(has(refusal("-0x8000000000000001", 0), "below the least"));
}

TEST(Expr, TextsHaveEscapes) {
  EXPECT_EQ(parsed(R"(comm == "a\"\\\n\t\x7f")").children[1].text, "a\"\\\n\t\x7f");
  EXPECT_EQ(canonical(R"(comm == "\x41\x0a\xFF")"), R"(comm == "A\n\xff")");
  EXPECT_TRUE(has(refusal(R"(comm == "a\q")", 10), "behind a \\"));
  EXPECT_TRUE(has(refusal(R"(comm == "\x4")", 9), "two hex digits"));
  EXPECT_TRUE(has(refusal(R"(comm == "\x00")", 9), "no byte 0"));
  EXPECT_TRUE(has(refusal(R"(comm == "abc)", 8), "never closed"));
  EXPECT_TRUE(has(refusal(R"(comm == "abc\")", 8), "never closed"));
  std::string longest(63, 'a');
  EXPECT_TRUE(parse_condition("str(arg0) == \"" + longest + "\""));
  EXPECT_TRUE(has(refusal("str(arg0) == \"" + longest + "a\"", 13), "63 bytes"));
}

TEST(Expr, OperatorsBindAsInC) {
  EXPECT_EQ(canonical("((1 || (2 && (3 | (4 ^ (5 & 6))))))"), "1 || 2 && 3 | 4 ^ 5 & 6");
  EXPECT_EQ(canonical("(((1 || 2) && 3) | 4)"), "((1 || 2) && 3) | 4");
  EXPECT_EQ(canonical("1 < (2 << (3 + (4 * (-5))))"), "1 < 2 << 3 + 4 * -5");
  EXPECT_EQ(canonical("((1 + 2) * 3) << 4"), "(1 + 2) * 3 << 4");
  EXPECT_EQ(canonical("(arg0 - arg1) - arg2"), "arg0 - arg1 - arg2");
  EXPECT_EQ(canonical("arg0 - (arg1 - arg2)"), "arg0 - (arg1 - arg2)");
  EXPECT_EQ(canonical("!(arg0 == 1) && ~arg1 / -(arg2)"), "!(arg0 == 1) && ~arg1 / -arg2");
  EXPECT_EQ(
      parsed("arg0*2+1==7&&!tid"),
      Expr::of_binary(
          Operator::logical_and,
          Expr::of_binary(
              Operator::equal,
              Expr::of_binary(Operator::add, Expr::of_binary(Operator::multiply, arg(0), number(2)),
                              number(1)),
              number(7)),
          Expr::of_unary(Operator::logical_not, Expr::of_operand(Operand::tid))));
}

TEST(Expr, WhatEverybodyMisreadsWantsParentheses) {
  EXPECT_TRUE(has(refusal("arg0 & 4 == 4", 5), "put parentheses: (a & b) == c"));
  EXPECT_TRUE(has(refusal("arg0 == 4 | 1", 10), "put parentheses"));
  EXPECT_TRUE(has(refusal("arg0 ^ arg1 < 4", 5), "put parentheses"));
  EXPECT_TRUE(has(refusal("1 < arg0 < 4", 9), "do not chain"));
  EXPECT_TRUE(has(refusal("arg0 == arg1 == arg2", 13), "do not chain"));
  EXPECT_EQ(canonical("(arg0 & 4) == 4"), "(arg0 & 4) == 4");
  EXPECT_EQ(canonical("arg0 & (4 == 4)"), "arg0 & (4 == 4)");
  EXPECT_EQ(canonical("(1 < arg0) < 4"), "(1 < arg0) < 4");
  EXPECT_EQ(canonical("arg0 | arg1 & 3"), "arg0 | arg1 & 3");
}

TEST(Expr, UnknownNamesAreRefusedWithTheNearest) {
  EXPECT_TRUE(has(refusal("arg0 == 1 && tidd == 5", 13), "did you mean \"tid\"?"));
  EXPECT_TRUE(has(refusal("u46(arg0)", 0), "unknown name \"u46\""));
  EXPECT_TRUE(has(refusal("cgruop == 1", 0), "did you mean \"cgroup\"?"));
  EXPECT_TRUE(has(refusal("arg12", 0), "arg0 to arg11"));
  EXPECT_TRUE(has(refusal("arg01", 0), "arg0 to arg11"));
  EXPECT_TRUE(has(refusal("arg99999999999999999999", 0), "arg0 to arg11"));
}

TEST(Expr, MissingAndSuperfluousPartsAreShown) {
  EXPECT_TRUE(has(refusal("", 0), "a value"));
  EXPECT_TRUE(has(refusal("arg0 ==", 7), "is missing"));
  EXPECT_TRUE(has(refusal("arg0 == == 1", 8), "\"==\" is not expected"));
  EXPECT_TRUE(has(refusal("(arg0 == 1", 10), "\")\" is missing"));
  EXPECT_TRUE(has(refusal("arg0 == 1)", 9), "\")\" is not expected"));
  EXPECT_TRUE(has(refusal("arg0 arg1", 5), "not expected"));
  EXPECT_TRUE(has(refusal("arg0 = 1", 5), "== compares"));
  EXPECT_TRUE(has(refusal("u32 arg0", 0), "u32(arg0)"));
  EXPECT_TRUE(has(refusal("str(arg0, 65) == \"a\"", 10), "1 to 64"));
  EXPECT_TRUE(has(refusal("str(arg0, 0) == \"a\"", 10), "1 to 64"));
  EXPECT_TRUE(has(refusal("str(arg0, tid) == \"a\"", 10), "the most bytes"));
  EXPECT_TRUE(has(refusal("pid(1)", 3), "not expected"));
}

TEST(Expr, StringsAreComparedWithTexts) {
  for (const char* text : {"comm == \"a\"", "\"a\" != comm", "str(arg0) =~ \"[ab]*\"",
                           "(comm == \"a\") + 1 == 2", "!(comm =~ \"x?\")"})
    EXPECT_TRUE(parse_condition(text)) << text;
  EXPECT_TRUE(has(refusal("comm", 0), "not an integer"));
  EXPECT_TRUE(has(refusal("arg0 + comm == 1", 7), "not an integer"));
  EXPECT_TRUE(has(refusal("!str(arg0)", 1), "not an integer"));
  EXPECT_TRUE(has(refusal("comm < \"a\"", 0), "not an integer"));
  EXPECT_TRUE(has(refusal("comm == 1", 8), "compared with a string"));
  EXPECT_TRUE(has(refusal("arg0 == \"a\"", 0), "str(E) reads a string"));
  EXPECT_TRUE(has(refusal("comm == str(arg0)", 5), "a text in quotes"));
  EXPECT_TRUE(has(refusal("\"a\" == \"a\"", 4), "a text in quotes"));
  EXPECT_TRUE(has(refusal("comm =~ arg0", 8), "a glob"));
  EXPECT_TRUE(has(refusal("\"a\" =~ comm", 7), "a glob"));
  EXPECT_TRUE(has(refusal("arg0 =~ \"a\"", 0), "compares a string"));
  EXPECT_TRUE(has(refusal("u8(comm) == 1", 3), "not an integer"));
  EXPECT_TRUE(has(refusal("str(comm) == \"a\"", 4), "not an integer"));
  EXPECT_TRUE(has(refusal("comm == \"1234567890123456\"", 8), "never equal"));
  EXPECT_TRUE(has(refusal("str(arg0, 2) != \"abc\"", 16), "never equal"));
}

TEST(Expr, StringsOfLibcxxAreNamedAsSuch) {
  EXPECT_EQ(canonical("cstr( arg0 + 8,libcxx ) == \"a\""), "cstr(arg0 + 8, libcxx) == \"a\"");
  EXPECT_EQ(canonical("cstr(arg0, 5, libcxx) =~ \"a*\""), "cstr(arg0, 5, libcxx) =~ \"a*\"");
  EXPECT_EQ(canonical("cstr(arg0, 64, libcxx) =~ \"a*\""), "cstr(arg0, libcxx) =~ \"a*\"");
  EXPECT_FALSE(parsed("cstr(arg0, libcxx) == \"a\"") == parsed("cstr(arg0) == \"a\""));
  EXPECT_TRUE(has(refusal("cstr(arg0, libstdcxx) == \"a\"", 11), "the most bytes"));
  EXPECT_TRUE(has(refusal("cstr(arg0, 5, 6) == \"a\"", 14), "libcxx, or nothing"));
  EXPECT_TRUE(has(refusal("cstr(arg0, libcxx, 5) == \"a\"", 17), "not expected"));
  EXPECT_TRUE(has(refusal("str(arg0, libcxx) == \"a\"", 10), "the most bytes"));
  EXPECT_TRUE(has(refusal("cstr(comm, libcxx) == \"a\"", 5), "not an integer"));
}

TEST(Expr, BytesAreValuesAndKeysOnly) {
  const auto spec = parse_spec("event(hex(arg0 + 8, 16)), count by hex(arg1, 64)");
  ASSERT_TRUE(spec) << spec.error().message;
  EXPECT_EQ(spec->values.at(0),
            Expr::of_hex(Expr::of_binary(Operator::add, arg(0), number(8)), 16));
  EXPECT_EQ(spec->aggregates.at(0).by.at(0), Expr::of_hex(arg(1), 64));
  EXPECT_EQ(to_string(*spec), "event(hex(arg0 + 8, 16)), count by hex(arg1, 64)");
  EXPECT_TRUE(has(refusal("hex(arg0, 4)", 0), "a value of an event, or a key"));
  EXPECT_TRUE(has(refusal("1 + hex(arg0, 4)", 4), "a value of an event, or a key"));
  EXPECT_TRUE(has(refusal("u8(hex(arg0, 4)) == 1", 3), "a value of an event, or a key"));
  EXPECT_TRUE(has(refusal("hex(arg0, 4) == \"a\"", 0), "a value of an event, or a key"));
  EXPECT_TRUE(has(refusal("hex(arg0, 4) =~ \"a\"", 0), "compares a string"));
  EXPECT_TRUE(has(refusal("hex(arg0)", 8), "number of bytes"));
  EXPECT_TRUE(has(refusal("hex(arg0, tid)", 10), "number of bytes"));
  EXPECT_TRUE(has(refusal("hex(arg0, 0)", 10), "1 to 64"));
  EXPECT_TRUE(has(refusal("hex(arg0, 65)", 10), "1 to 64"));
}

TEST(Expr, LiteralsThatCannotBeMeantAreRefused) {
  EXPECT_TRUE(has(refusal("arg0 / 0 == 1", 7), "divides by 0"));
  EXPECT_TRUE(has(refusal("arg0 % (0) == 1", 8), "divides by 0"));
  EXPECT_TRUE(has(refusal("arg0 << 64 == 1", 8), "0 to 63"));
  EXPECT_TRUE(has(refusal("arg0 >> -1 == 1", 8), "0 to 63"));
  EXPECT_TRUE(parse_condition("arg0 << 63 == 1"));
}

TEST(Expr, SizeIsBounded) {
  EXPECT_TRUE(parse_condition(repeated("(", 31) + "1" + repeated(")", 31)));
  EXPECT_TRUE(has(refusal(repeated("(", 32) + "1" + repeated(")", 32), 32), "32 levels"));
  EXPECT_TRUE(has(refusal(repeated("-", 4000), 32), "32 levels"));
  EXPECT_TRUE(parse_condition("1" + repeated("+1", 127)));
  EXPECT_TRUE(has(refusal("1" + repeated("+1", 128), 255), "too long"));
  EXPECT_FALSE(parse_condition(repeated(" ", 4096) + "1"));
}

TEST(Expr, WhereItStoodIsNoPartOfIt) {
  EXPECT_EQ(parsed("arg0   ==  1"), parsed("arg0 == 1"));
  EXPECT_FALSE(parsed("arg0 == 1") == parsed("arg0 == 2"));
  EXPECT_FALSE(parsed("arg0 == 1") == parsed("arg0 != 1"));
}
