// SPDX-License-Identifier: BSD-2-Clause
#include <gtest/gtest.h>

#include "daemon/spec/parse.h"
#include "tests/support/parsed_expr.h"

using namespace tracectl;

namespace {

std::string canonical(std::string_view text) { return to_string(parsed_expr(text)); }

// Expects a refusal at the column, with this text in its message.
void expect_refused(std::string_view text, size_t column, std::string_view says) {
  auto expr = parse_condition(text);
  ASSERT_FALSE(expr) << text;
  EXPECT_EQ(expr.error().spot.value_or(Spot{}), (Spot{std::string{text}, column})) << text;
  EXPECT_NE(expr.error().message.find(says), std::string::npos) << expr.error().message;
}

Expr arg(uint64_t index) { return Expr::of_operand(Operand::arg, index); }
Expr number(uint64_t value) { return Expr::of_integer(value); }

std::string repeated(std::string_view text, size_t times) {
  std::string all;
  for (size_t i = 0; i < times; i++) all += text;
  return all;
}

}  // namespace

TEST(Expr, OperandsAndFunctionsAreRead) {
  EXPECT_EQ(parsed_expr("arg11"), arg(11));
  EXPECT_EQ(parsed_expr("cgroup"), Expr::of_operand(Operand::cgroup));
  EXPECT_EQ(parsed_expr("stack_bytes"), Expr::of_operand(Operand::stack_bytes));
  EXPECT_EQ(parsed_expr("s16(arg0 + 4)"),
            Expr::of_read(Read::s16, Expr::of_binary(Operator::add, arg(0), number(4))));
  EXPECT_EQ(parsed_expr("str(arg1, 5) == \"ab\""),
            Expr::of_binary(Operator::equal, Expr::of_str(arg(1), 5), Expr::of_text("ab")));
  EXPECT_EQ(parsed_expr("str(arg1) =~ \"ab*\""),
            Expr::of_binary(Operator::like, Expr::of_str(arg(1), 64), Expr::of_text("ab*")));
}

TEST(Expr, IntegersAreDecimalOrHex) {
  EXPECT_EQ(parsed_expr("18446744073709551615"), number(UINT64_MAX));
  EXPECT_EQ(parsed_expr("0xFFffFFffFFffFFff"), number(UINT64_MAX));
  EXPECT_EQ(parsed_expr("0"), number(0));
  EXPECT_TRUE(parse_condition("-0x8000000000000000"));
  expect_refused("18446744073709551616", 0, "64 bits");
  expect_refused("arg0 == 12ab", 8, "no integer");
  expect_refused("0x", 0, "no integer");
  expect_refused("010", 0, "begin with 0");
  expect_refused("-0x8000000000000001", 0, "below the least");
}

TEST(Expr, TimesAreNanoseconds) {
  EXPECT_EQ(canonical("duration > 10us"), canonical("duration > 10000"));
  EXPECT_EQ(canonical("1ns + 2ms + 3s"), canonical("1 + 2000000 + 3000000000"));
  expect_refused("1m", 0, "no time in ns, us, ms or s");
  expect_refused("0x1ns", 0, "is no integer");
  expect_refused("18446744074s", 0, "64 bits at most");
}

TEST(Expr, TextsHaveEscapes) {
  EXPECT_EQ(parsed_expr(R"(comm == "a\"\\\n\t\x7f")").children[1].text, "a\"\\\n\t\x7f");
  EXPECT_EQ(canonical(R"(comm == "\x41\x0a\xFF")"), R"(comm == "A\n\xff")");
  expect_refused(R"(comm == "a\q")", 10, "behind a \\");
  expect_refused(R"(comm == "\x4")", 9, "two hex digits");
  expect_refused(R"(comm == "\x00")", 9, "no byte 0");
  expect_refused(R"(comm == "abc)", 8, "never closed");
  expect_refused(R"(comm == "abc\")", 8, "never closed");
  std::string longest(63, 'a');
  EXPECT_TRUE(parse_condition("str(arg0) == \"" + longest + "\""));
  expect_refused("str(arg0) == \"" + longest + "a\"", 13, "63 bytes");
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
      parsed_expr("arg0*2+1==7&&!tid"),
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
  expect_refused("arg0 & 4 == 4", 5, "put parentheses: (a & b) == c");
  expect_refused("arg0 == 4 | 1", 10, "put parentheses");
  expect_refused("arg0 ^ arg1 < 4", 5, "put parentheses");
  expect_refused("1 < arg0 < 4", 9, "do not chain");
  expect_refused("arg0 == arg1 == arg2", 13, "do not chain");
  EXPECT_EQ(canonical("(arg0 & 4) == 4"), "(arg0 & 4) == 4");
  EXPECT_EQ(canonical("arg0 & (4 == 4)"), "arg0 & (4 == 4)");
  EXPECT_EQ(canonical("(1 < arg0) < 4"), "(1 < arg0) < 4");
  EXPECT_EQ(canonical("arg0 | arg1 & 3"), "arg0 | arg1 & 3");
}

TEST(Expr, UnknownNamesAreRefusedWithTheNearest) {
  expect_refused("arg0 == 1 && tidd == 5", 13, "did you mean \"tid\"?");
  expect_refused("u46(arg0)", 0, "unknown name \"u46\"");
  expect_refused("cgruop == 1", 0, "did you mean \"cgroup\"?");
  expect_refused("arg12", 0, "arg0 to arg11");
  expect_refused("arg01", 0, "arg0 to arg11");
  expect_refused("arg99999999999999999999", 0, "arg0 to arg11");
}

TEST(Expr, MissingAndSuperfluousPartsAreShown) {
  expect_refused("", 0, "a value");
  expect_refused("arg0 ==", 7, "is missing");
  expect_refused("arg0 == == 1", 8, "\"==\" is not expected");
  expect_refused("(arg0 == 1", 10, "\")\" is missing");
  expect_refused("arg0 == 1)", 9, "\")\" is not expected");
  expect_refused("arg0 arg1", 5, "not expected");
  expect_refused("arg0 = 1", 5, "== compares");
  expect_refused("u32 arg0", 0, "u32(arg0)");
  expect_refused("str(arg0, 65) == \"a\"", 10, "1 to 64");
  expect_refused("str(arg0, 0) == \"a\"", 10, "1 to 64");
  expect_refused("str(arg0, tie) == \"a\"", 10, "unknown name");
  expect_refused("pid(1)", 3, "not expected");
}

TEST(Expr, StringsAreComparedWithTexts) {
  for (const char* text : {"comm == \"a\"", "\"a\" != comm", "str(arg0) =~ \"[ab]*\"",
                           "(comm == \"a\") + 1 == 2", "!(comm =~ \"x?\")"})
    EXPECT_TRUE(parse_condition(text)) << text;
  expect_refused("comm", 0, "not an integer");
  expect_refused("arg0 + comm == 1", 7, "not an integer");
  expect_refused("!str(arg0)", 1, "not an integer");
  expect_refused("comm < \"a\"", 0, "not an integer");
  expect_refused("comm == 1", 8, "compared with a string");
  expect_refused("arg0 == \"a\"", 0, "str(E) reads a string");
  expect_refused("comm == str(arg0)", 5, "a text in quotes");
  expect_refused("\"a\" == \"a\"", 4, "a text in quotes");
  expect_refused("comm =~ arg0", 8, "a glob");
  expect_refused("\"a\" =~ comm", 7, "a glob");
  expect_refused("arg0 =~ \"a\"", 0, "compares a string");
  expect_refused("u8(comm) == 1", 3, "not an integer");
  expect_refused("str(comm) == \"a\"", 4, "not an integer");
  expect_refused("comm == \"1234567890123456\"", 8, "never equal");
  expect_refused("str(arg0, 2) != \"abc\"", 16, "never equal");
}

// Where the site is known, so is what they are.
TEST(Expr, WhatHasANameMayBeAText) {
  for (const char* text : {"arg.a == \"x\"", "\"x\" != arg.a->b", "*arg.a =~ \"x*\"",
                           "retval == \"x\"", "var.a =~ \"x\""})
    EXPECT_EQ(canonical(text), text);
  expect_refused("arg.a + 1 == \"x\"", 6, "str(E) reads a string");
  expect_refused("arg.a < \"x\"", 8, "a text is no integer");
}

TEST(Expr, StringsOfLibcxxAreNamedAsSuch) {
  EXPECT_EQ(canonical("cstr( arg0 + 8,libcxx ) == \"a\""), "cstr(arg0 + 8, libcxx) == \"a\"");
  EXPECT_EQ(canonical("cstr(arg0, 5, libcxx) =~ \"a*\""), "cstr(arg0, 5, libcxx) =~ \"a*\"");
  EXPECT_EQ(canonical("cstr(arg0, 64, libcxx) =~ \"a*\""), "cstr(arg0, libcxx) =~ \"a*\"");
  EXPECT_FALSE(parsed_expr("cstr(arg0, libcxx) == \"a\"") == parsed_expr("cstr(arg0) == \"a\""));
  expect_refused("cstr(arg0, libstdcxx) == \"a\"", 11, "the most bytes");
  expect_refused("cstr(arg0, 5, 6) == \"a\"", 14, "libcxx, or nothing");
  expect_refused("cstr(arg0, libcxx, 5) == \"a\"", 17, "not expected");
  expect_refused("str(arg0, libcxx) == \"a\"", 10, "unknown name");
  expect_refused("cstr(comm, libcxx) == \"a\"", 5, "not an integer");
}

TEST(Expr, BytesAreValuesAndKeysOnly) {
  const auto spec = parse_spec("event(hex(arg0 + 8, 16)), count by hex(arg1, 64)");
  ASSERT_TRUE(spec) << spec.error().message;
  EXPECT_EQ(spec->values.at(0),
            Expr::of_hex(Expr::of_binary(Operator::add, arg(0), number(8)), 16));
  EXPECT_EQ(spec->aggregates.at(0).by.at(0), Expr::of_hex(arg(1), 64));
  EXPECT_EQ(to_string(*spec), "event(hex(arg0 + 8, 16)), count by hex(arg1, 64)");
  expect_refused("hex(arg0, 4)", 0, "a value of an event, or a key");
  expect_refused("1 + hex(arg0, 4)", 4, "a value of an event, or a key");
  expect_refused("u8(hex(arg0, 4)) == 1", 3, "a value of an event, or a key");
  expect_refused("hex(arg0, 4) == \"a\"", 0, "a value of an event, or a key");
  expect_refused("hex(arg0, 4) =~ \"a\"", 0, "compares a string");
  expect_refused("hex(arg0)", 8, "number of bytes");
  expect_refused("hex(arg0, tid)", 10, "number of bytes");
  expect_refused("hex(arg0, 0)", 10, "1 to 64");
  expect_refused("hex(arg0, 65)", 10, "1 to 64");
}

TEST(Expr, WordsOfBpftraceMeanOurs) {
  EXPECT_EQ(canonical("args.size > 1 && nsecs > 5"), "arg.size > 1 && ts > 5");
  const auto spec = parse_spec("count() by ustack(3), sum(args.size)");
  ASSERT_TRUE(spec) << spec.error().message;
  EXPECT_EQ(to_string(*spec), "count by stack(3), sum(arg.size)");
  expect_refused("args", 0, "unknown name");
  const auto with_value = parse_spec("count(arg0)");
  ASSERT_FALSE(with_value);
  EXPECT_NE(with_value.error().message.find("\"arg0\" is not expected"), std::string::npos);
}

TEST(Expr, AddressesOfSymbolsAreIntegers) {
  EXPECT_EQ(
      parsed_expr("u32(uaddr(\"n\") + 4)"),
      Expr::of_read(Read::u32, Expr::of_binary(Operator::add, Expr::of_symbol("n"), number(4))));
  EXPECT_EQ(canonical("arg0==uaddr( \"a::b(int)\" )"), "arg0 == uaddr(\"a::b(int)\")");
  EXPECT_EQ(canonical("uaddr(\"a\\\"b\") == 1"), "uaddr(\"a\\\"b\") == 1");
  EXPECT_FALSE(parsed_expr("uaddr(\"a\")") == parsed_expr("uaddr(\"b\")"));
  expect_refused("uaddr == 1", 0, "the name of a variable or function in quotes");
  expect_refused("uaddr(n) == 1", 6, "the name of a variable or function in quotes");
  expect_refused("uaddr() == 1", 6, "the name of a variable or function in quotes");
  expect_refused("uaddr(\"n\", 1) == 1", 9, "not expected");
  expect_refused("uaddr(\"n\") == \"a\"", 0, "this is an integer");
  expect_refused("uadr(\"n\") == 1", 0, "did you mean \"uaddr\"");
}

TEST(Expr, LiteralsThatCannotBeMeantAreRefused) {
  expect_refused("arg0 / 0 == 1", 7, "divides by 0");
  expect_refused("arg0 % (0) == 1", 8, "divides by 0");
  expect_refused("arg0 << 64 == 1", 8, "0 to 63");
  expect_refused("arg0 >> -1 == 1", 8, "0 to 63");
  EXPECT_TRUE(parse_condition("arg0 << 63 == 1"));
}

TEST(Expr, SizeIsBounded) {
  EXPECT_TRUE(parse_condition(repeated("(", 31) + "1" + repeated(")", 31)));
  expect_refused(repeated("(", 32) + "1" + repeated(")", 32), 32, "32 levels");
  expect_refused(repeated("-", 4000), 32, "32 levels");
  EXPECT_TRUE(parse_condition("1" + repeated("+1", 127)));
  expect_refused("1" + repeated("+1", 128), 255, "too long");
  EXPECT_FALSE(parse_condition(repeated(" ", 4096) + "1"));
}

TEST(Expr, WhereItStoodIsNoPartOfIt) {
  EXPECT_EQ(parsed_expr("arg0   ==  1"), parsed_expr("arg0 == 1"));
  EXPECT_FALSE(parsed_expr("arg0 == 1") == parsed_expr("arg0 == 2"));
  EXPECT_FALSE(parsed_expr("arg0 == 1") == parsed_expr("arg0 != 1"));
}
