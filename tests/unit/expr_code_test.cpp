// SPDX-License-Identifier: BSD-2-Clause
#include <gtest/gtest.h>

#include "daemon/spec/compile.h"
#include "daemon/spec/parse.h"
#include "tests/support/machine.h"
#include "tests/support/parsed_expr.h"

using namespace tracectl;

namespace {

Argument argument(uint8_t size_bytes, bool is_signed) {
  return {.place = Argument::Place::in_register, .size_bytes = size_bytes, .is_signed = is_signed};
}

// arg0 s32, arg1 u32, arg2 s64, arg3 u64, arg4 s8, arg5 u8.
const Arguments kArguments = {argument(4, true),  argument(4, false), argument(8, true),
                              argument(8, false), argument(1, true),  argument(1, false)};

MachineHit a_hit() {
  return {.arguments = kArguments,
          .values = {0xffffffff, 0xffffffff, 0xffffffffffffffff, 0xffffffffffffffff, 0x80, 0x80},
          .pid = 10,
          .tid = 11,
          .uid = 1000,
          .cpu = 3,
          .cgroup = 77,
          .ts_ns = 5000,
          .comm = "postgres",
          .memory_start = 0x1000,
          .memory = std::string{"\x80\xff\xff\xff\xff\xff\xff\xff"
                                "select 1\0tail",
                                21}};
}

ExprCode compiled(std::string_view text) {
  auto code = compile_condition(parsed_expr(text), kArguments);
  EXPECT_TRUE(code) << text << ": " << (code ? "" : code.error().message);
  return code ? *code : ExprCode{};
}

std::optional<uint64_t> outcome(std::string_view text, const MachineHit& hit = a_hit()) {
  return run(compiled(text), hit).value;
}

std::optional<uint64_t> value_of(std::string_view text) {
  auto code = compile_value(parsed_expr(text), kArguments);
  EXPECT_TRUE(code) << text;
  return code ? run(*code, a_hit()).value : std::nullopt;
}

std::string refusal_of_code(std::string_view text, size_t column, const Arguments& arguments) {
  const Expr expr = parsed_expr(text);
  auto code = compile_condition(expr, arguments);
  if (code) return "accepted";
  EXPECT_EQ(code.error().spot.value_or(Spot{}), (Spot{to_string(expr), column})) << text;
  return code.error().message;
}

bool has(const std::string& text, std::string_view part) { return text.find(part) != text.npos; }

}  // namespace

TEST(ExprCode, ArgumentsAreExtendedByTheirTypes) {
  for (const char* text : {"arg0 == -1", "arg1 == 0xffffffff", "arg2 == -1",
                           "arg3 == 0xffffffffffffffff", "arg4 == -128", "arg5 == 128"})
    EXPECT_EQ(outcome(text), 1u) << text;
}

TEST(ExprCode, OperandsComeFromTheHit) {
  EXPECT_EQ(outcome("pid == 10 && tid == 11 && uid == 1000 && cpu == 3"), 1u);
  EXPECT_EQ(outcome("cgroup == 77 && ts == 5000 && comm == \"postgres\""), 1u);
}

TEST(ExprCode, SignedAndUnsignedCompareAsTheNumbersTheyStandFor) {
  for (const char* text : {"arg2 < arg3", "arg3 > arg2", "arg2 != arg3", "-1 < arg3", "arg3 > -1",
                           "arg2 < 0xffffffffffffffff", "arg3 >= 0x8000000000000000", "arg0 < ts",
                           "5 < ts", "ts > 5", "arg2 <= 0", "arg2 < 5"})
    EXPECT_EQ(outcome(text), 1u) << text;
  EXPECT_EQ(outcome("arg2 == arg3"), 0u);
  EXPECT_EQ(outcome("arg2 == 0xffffffffffffffff"), 0u);
}

TEST(ExprCode, ArithmeticIsThatOf64Bits) {
  EXPECT_EQ(value_of("arg0 + 2"), 1u);
  EXPECT_EQ(value_of("arg1 + 1"), 0x100000000u);
  EXPECT_EQ(value_of("arg0 / 2"), 0u);
  EXPECT_EQ(value_of("arg3 / 2"), 0x7fffffffffffffffu);
  EXPECT_EQ(value_of("arg3 >> 63"), 1u);
  EXPECT_EQ(value_of("arg2 >> 63"), UINT64_MAX);
  EXPECT_EQ(value_of("-0x8000000000000000 / arg2"), 0x8000000000000000u);
  EXPECT_EQ(value_of("-0x8000000000000000 % arg2"), 0u);
  EXPECT_EQ(value_of("1 << (pid + 54)"), 1u);
  EXPECT_EQ(value_of("100 - pid"), 90u);
  EXPECT_EQ(value_of("-pid"), static_cast<uint64_t>(-10));
  EXPECT_EQ(value_of("~pid"), ~uint64_t{10});
  EXPECT_EQ(value_of("(pid == 10) + (pid == 11) + !tid + !(tid == 5)"), 2u);
}

TEST(ExprCode, MemoryIsReadByTheSizeAndSignNamed) {
  EXPECT_EQ(value_of("u8(0x1000)"), 0x80u);
  EXPECT_EQ(value_of("s8(0x1000)"), static_cast<uint64_t>(-128));
  EXPECT_EQ(value_of("u16(0x1000)"), 0xff80u);
  EXPECT_EQ(value_of("s16(0x1000)"), static_cast<uint64_t>(-128));
  EXPECT_EQ(value_of("u32(0x1000)"), 0xffffff80u);
  EXPECT_EQ(value_of("s32(0x1000)"), static_cast<uint64_t>(-128));
  EXPECT_EQ(outcome("u64(0x1000) > 0x8000000000000000"), 1u);
  EXPECT_EQ(outcome("s64(0x1000) == -128"), 1u);
}

TEST(ExprCode, StringsAreComparedUpToTheirEnd) {
  EXPECT_EQ(outcome("str(0x1008) == \"select 1\""), 1u);
  EXPECT_EQ(outcome("str(0x1008, 6) == \"select\""), 1u);
  EXPECT_EQ(outcome("str(0x1008, 6) != \"selec\""), 1u);
  EXPECT_EQ(outcome("str(0x1000 + 8) =~ \"select*\""), 1u);
  EXPECT_EQ(outcome("!(str(0x1008) =~ \"update*\")"), 1u);
  EXPECT_EQ(outcome("\"postgres\" != comm"), 0u);
  EXPECT_EQ(outcome("comm =~ \"post[a-z]*\" && comm =~ \"*gres\""), 1u);
}

// A std::string of libstdc++ begins with the address of its characters.
TEST(ExprCode, StringsOfCxxAreReadWhereTheyPoint) {
  MachineHit hit = a_hit();
  hit.memory += std::string("\x08\x10\0\0\0\0\0\0", 8);
  EXPECT_EQ(outcome("cstr(0x1015) == \"select 1\"", hit), 1u);
  EXPECT_EQ(outcome("cstr(0x1015, 6) == \"select\"", hit), 1u);
  EXPECT_EQ(outcome("cstr(0x1000 + 21) =~ \"update*\"", hit), 0u);
  EXPECT_EQ(outcome("cstr(0x1016) == \"\"", hit), std::nullopt);
  EXPECT_EQ(outcome("cstr(0) == \"\"", hit), std::nullopt);
}

// The layout of libc++: include/string, __short and __long of the ABI version 1.
TEST(ExprCode, StringsOfLibcxxAreReadInThemOrWhereTheyPoint) {
  MachineHit hit = a_hit();
  hit.memory = std::string(
                   "\x10"
                   "select 1\0",
                   10) +
               std::string(14, '\x99');
  hit.memory += std::string("\x21\0\0\0\0\0\0\0\x09\0\0\0\0\0\0\0\x30\x10\0\0\0\0\0\0", 24);
  hit.memory += std::string("a long one\0", 11);
  EXPECT_EQ(outcome("cstr(0x1000, libcxx) == \"select 1\"", hit), 1u);
  EXPECT_EQ(outcome("cstr(0x1000, 6, libcxx) == \"select\"", hit), 1u);
  EXPECT_EQ(outcome("cstr(0x1000 + 24, libcxx) == \"a long one\"", hit), 1u);
  EXPECT_EQ(outcome("cstr(0x1018, 6, libcxx) == \"a long\"", hit), 1u);
  EXPECT_EQ(outcome("cstr(0, libcxx) == \"\"", hit), std::nullopt);
}

TEST(ExprCode, WhatFailsMakesTheWholeFail) {
  EXPECT_EQ(outcome("u8(0) == 1"), std::nullopt);
  EXPECT_EQ(outcome("u8(0) == 1 || 1"), std::nullopt);
  EXPECT_EQ(outcome("!(str(0) == \"a\")"), std::nullopt);
  EXPECT_EQ(outcome("1 / (pid - 10) == 1"), std::nullopt);
  EXPECT_EQ(outcome("1 % (pid - 10) == 1"), std::nullopt);
  MachineHit hit = a_hit();
  hit.values[0] = std::nullopt;
  EXPECT_EQ(outcome("arg0 == 1", hit), std::nullopt);
}

TEST(ExprCode, WhatIsNotNeededIsNotEvaluated) {
  EXPECT_EQ(outcome("pid == 11 && u8(0) == 1"), 0u);
  EXPECT_EQ(outcome("pid == 10 || u8(0) == 1"), 1u);
  EXPECT_EQ(outcome("(pid == 10 || u8(0)) && (tid == 5 || cpu == 3)"), 1u);
  EXPECT_EQ(outcome("!(pid == 11 && u8(0)) && 1"), 1u);
}

// If each had the cost of a call, four terms would be a third of a hit.
TEST(ExprCode, UpToFourComparisonsWithNumbersAreDecidedAtOnce) {
  for (const char* text : {"arg0 > 5", "5 < arg0", "!(arg3 == 1)", "arg0", "pid == 7 || tid != 9",
                           "arg0 < 5 && arg1 == 2 && arg2 != 0 && tid != 1"})
    EXPECT_TRUE(is_terms(compiled(text))) << text;
  for (const char* text :
       {"arg0 + 1 > 5", "arg0 < arg1", "comm == \"a\"", "u8(arg3) == 1", "uid == 0", "cpu == 1",
        "arg0 == 1 || arg0 == 2 || arg0 == 3 || arg0 == 4 || arg0 == 5"})
    EXPECT_FALSE(is_terms(compiled(text))) << text;
}

// Each instruction costs.
TEST(ExprCode, TermsOfAConditionAreOneInstructionEach) {
  EXPECT_EQ(cost_bound(compiled("arg0 > 5")), 2u);
  EXPECT_EQ(cost_bound(compiled("5 < arg0")), 2u);
  EXPECT_EQ(cost_bound(compiled("arg0 > 5 && arg1 != 7 && pid == 9 && comm =~ \"post*\"")), 5u);
  EXPECT_EQ(cost_bound(compiled("arg0 > 5 || arg1 != 7 || pid == 9 || str(arg3) == \"a\"")), 5u);
  EXPECT_EQ(cost_bound(compiled("!(arg0 > 5 && !(arg1 == 3))")), 3u);
  EXPECT_EQ(cost_bound(compiled("(arg0 & 4) == 4")), 3u);
  EXPECT_EQ(cost_bound(compiled("u32(arg3 + 8) == 4")), 4u);
  EXPECT_EQ(cost_bound(compiled("arg0 < arg1")), 3u);
  EXPECT_EQ(cost_bound(compiled("ts > arg0")), 3u);
  EXPECT_EQ(run(compiled("arg0 == 5 && pid == 9"), a_hit()).executed, 2u);
}

TEST(ExprCode, CostIsThatOfTheLongestWay) {
  EXPECT_EQ(cost_bound(compiled("pid == 10 && (arg0 + arg1) * 2 == 7 || tid == 4")), 7u);
  EXPECT_EQ(cost_bound(compiled("0 && (pid + 1) * 2 == 7")), 2u);
}

TEST(ExprCode, TextsAreKeptOnce) {
  ExprCode code = compiled("comm == \"a\" || str(arg3) == \"a\" || comm =~ \"b*\"");
  EXPECT_EQ(code.texts, (std::vector<std::string>{"a", "b*"}));
}

TEST(ExprCode, StringValuesSayWhatTheyAre) {
  auto str = compile_value(Expr::of_str(Expr::of_operand(Operand::arg, 3), 20), kArguments);
  ASSERT_TRUE(str);
  EXPECT_EQ(str->type, ValueType::string);
  EXPECT_EQ(str->most_bytes, 20);
  EXPECT_EQ(run(*str, a_hit()).value, UINT64_MAX);
  auto comm = compile_value(Expr::of_operand(Operand::comm), kArguments);
  ASSERT_TRUE(comm);
  EXPECT_EQ(comm->type, ValueType::comm);
  EXPECT_FALSE(compile_value(Expr::of_text("a"), kArguments));
  EXPECT_FALSE(compile_condition(Expr::of_operand(Operand::comm), kArguments));
}

TEST(ExprCode, BytesAreShownAndNothingElse) {
  auto bytes = compile_value(Expr::of_hex(parsed_expr("arg3 + 8"), 20), kArguments);
  ASSERT_TRUE(bytes);
  EXPECT_EQ(bytes->type, ValueType::bytes);
  EXPECT_EQ(bytes->most_bytes, 20);
  EXPECT_EQ(run(*bytes, a_hit()).value, 7u);
  EXPECT_FALSE(compile_condition(Expr::of_hex(parsed_expr("arg3"), 20), kArguments));
}

TEST(ExprCode, TypesOfValuesFollowTheirRange) {
  auto type = [](std::string_view text) {
    return compile_value(parsed_expr(text), kArguments)->type;
  };
  for (const char* text : {"arg3", "ts", "cgroup", "u64(arg3)", "0x8000000000000000", "arg2 + arg3",
                           "arg3 - 1", "-arg3", "~arg3", "arg3 >> 1"})
    EXPECT_EQ(type(text), ValueType::u64) << text;
  for (const char* text : {"arg0", "arg1", "arg2", "arg5", "pid", "s64(arg3)", "u32(arg3)",
                           "arg0 + 1", "arg3 > 1", "!arg3", "arg1 << arg3", "5", "-5"})
    EXPECT_EQ(type(text), ValueType::s64) << text;
}

TEST(ExprCode, ArgumentsTheSiteDoesNotHaveAreRefused) {
  const Arguments two = {argument(4, true), argument(8, false)};
  EXPECT_EQ(refusal_of_code("(pid) == 1 && arg2 == 1", 12, two),
            "this probe has 2 arguments: arg0, arg1");
  EXPECT_EQ(refusal_of_code("arg1 == 1", 0, {argument(4, true)}),
            "this probe has 1 argument: arg0");
  EXPECT_EQ(refusal_of_code("arg0 == 1", 0, {}), "this probe has no arguments");
}

TEST(ExprCode, ArgumentsThatAreNoReadableIntegersAreRefused) {
  Argument real = argument(8, false), lost = argument(8, false);
  real.is_float = true;
  lost.place = Argument::Place::unreadable;
  lost.text = "it is in an SSE register";
  const Arguments arguments = {real, lost};
  EXPECT_EQ(refusal_of_code("1 + arg0 == 1", 4, arguments),
            "arg0 is a float (f64), not an integer");
  EXPECT_EQ(refusal_of_code("pid == u8(arg1)", 10, arguments),
            "arg1 cannot be read here: it is in an SSE register");
  EXPECT_EQ(refusal_of_code("str(arg1) == \"a\"", 4, arguments),
            "arg1 cannot be read here: it is in an SSE register");
}

TEST(ExprCode, CodeIsBounded) {
  std::string terms = "arg0 == 1";
  for (int i = 0; i < 61; i++) terms += " || arg0 == 1";
  EXPECT_EQ(compiled(terms).insns.size(), 64u);
  EXPECT_TRUE(has(refusal_of_code(terms + " || arg0 == 1", 0, kArguments), "64 instructions"));
  std::string deep = "(pid + 1)";
  for (int i = 0; i < 7; i++) deep = "((pid + 1) * " + deep + ")";
  EXPECT_EQ(value_of(deep), 11u * 11 * 11 * 11 * 11 * 11 * 11 * 11);
  Result<ExprCode> deeper = compile_value(parsed_expr("(pid + 1) * " + deep), kArguments);
  ASSERT_FALSE(deeper);
  EXPECT_TRUE(has(deeper.error().message, "8 registers"));
}
