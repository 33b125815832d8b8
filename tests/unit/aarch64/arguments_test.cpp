// SPDX-License-Identifier: BSD-2-Clause
#include <gtest/gtest.h>

#include "daemon/object/arg_spec.h"
#include "daemon/object/code/calling_convention.h"
#include "daemon/object/code/machine.h"

namespace tracectl {
namespace {

using Place = Argument::Place;

Arguments parsed(std::string_view text) {
  return parse_arguments(text, [](std::string_view) { return std::nullopt; });
}

Argument only(std::string_view text) {
  const Arguments all = parsed(text);
  EXPECT_EQ(all.size(), 1u) << text;
  return all.empty() ? Argument{} : all[0];
}

TEST(A64Operands, InRegistersHaveTheirNumbers) {
  EXPECT_EQ(only("8@x0").base, Register::x0);
  EXPECT_EQ(static_cast<unsigned>(only("8@x19").base), 19u);
  EXPECT_EQ(only("8@x30").base, Register::x30);
  EXPECT_EQ(only("-4@w3").base, Register::x3);
  EXPECT_TRUE(only("-4@w3").is_signed);
  EXPECT_EQ(only("w3").size_bytes, 4);
  EXPECT_EQ(only("x3").size_bytes, 8);
  for (const char* text : {"8@x31", "8@w31", "8@q0", "8@d0", "8@x", "8@x0x", "8@", "8@pc"})
    EXPECT_EQ(only(text).place, Place::unreadable) << text;
}

TEST(A64Operands, InMemoryHaveABaseAndAnOffsetOrIndex) {
  const Arguments all = parsed("8@[sp, 16] 4@[x1] -8@[x29, #-24]  8@[x2, x3] 8@x4");
  ASSERT_EQ(all.size(), 5u);
  EXPECT_EQ(all[0].base, Register::sp);
  EXPECT_EQ(all[0].offset, 16);
  EXPECT_EQ(all[1].base, Register::x1);
  EXPECT_EQ(all[1].offset, 0);
  EXPECT_EQ(all[2].base, Register::x29);
  EXPECT_EQ(all[2].offset, -24);
  EXPECT_EQ(all[3].index, Register::x3);
  for (size_t i = 0; i < 4; ++i) EXPECT_EQ(all[i].place, Place::memory) << i;
  EXPECT_EQ(all[4].place, Place::in_register);
  for (const char* text : {"8@[w0]", "8@[x0", "8@[x0, ]", "8@[x0, :lo12:counter]",
                           "8@[x0, x1, lsl #3]", "8@[x31]", "8@["})
    EXPECT_EQ(only(text).place, Place::unreadable) << text;
}

TEST(A64Operands, ThatAreConstant) {
  EXPECT_EQ(only("-4@-5").offset, -5);
  EXPECT_EQ(only("4@#7").offset, 7);
  EXPECT_EQ(only("8@xzr").offset, 0);
  for (const char* text : {"-4@-5", "4@#7", "8@xzr", "4@wzr"})
    EXPECT_EQ(only(text).place, Place::constant) << text;
}

// ---- the calling convention ----

using Where = Seat::Where;

constexpr Passing kNumber{.way = Passing::Way::registers, .integer_registers = 1};
constexpr Passing kDouble{.way = Passing::Way::registers, .vector_registers = 1};

TEST(A64Seating, TakesEightRegistersAndThenTheStack) {
  Seating seating;
  seating.take_result_address();  // in x8
  for (const Register reg : kArgumentRegisters) {
    EXPECT_EQ(seating.next(kDouble).where, Where::registers);
    EXPECT_EQ(seating.next(kNumber).integer, reg);
  }
  for (const uint64_t offset : {0u, 8u, 16u}) {
    const Seat seat = seating.next(kNumber);
    EXPECT_EQ(seat.where, Where::stack);
    EXPECT_EQ(seat.stack_offset, offset);
  }
}

TEST(A64Seating, OfTwoRegistersLeavesNoneAfterTheStack) {
  Seating seating;
  Passing pair{.way = Passing::Way::registers, .integer_registers = 2, .size_bytes = 16};
  pair.is_aggregate = true;
  for (int i = 0; i < 7; ++i) seating.next(kNumber);
  EXPECT_EQ(seating.next(pair).where, Where::stack);
  EXPECT_EQ(seating.next(kNumber).where, Where::stack);  // x7 stays free
}

TEST(A64Seating, Of128BitNumbersBeginsAtAnEvenRegister) {
  Seating seating;
  seating.next(kNumber);
  const Passing wide{
      .way = Passing::Way::registers, .integer_registers = 2, .size_bytes = 16, .alignment = 16};
  EXPECT_EQ(seating.next(wide).integer, Register::x2);
  EXPECT_EQ(seating.next(kNumber).integer, Register::x4);
}

TEST(A64Seating, IsLostBehindStructsThatAreNotToldApart) {
  const auto is_lost_behind = [](Passing passing) {
    Seating seating;
    passing.is_aggregate = true;
    seating.next(passing);
    return seating.next(kNumber).where == Where::lost;
  };
  EXPECT_TRUE(is_lost_behind({.way = Passing::Way::stack, .size_bytes = 32}));
  EXPECT_TRUE(is_lost_behind(kDouble));
  EXPECT_TRUE(is_lost_behind({.way = Passing::Way::nothing}));
  EXPECT_TRUE(is_lost_behind(
      {.way = Passing::Way::registers, .integer_registers = 2, .size_bytes = 16, .alignment = 16}));
  EXPECT_FALSE(is_lost_behind({.way = Passing::Way::registers, .integer_registers = 2}));
}

// ---- results ----

ResultSeat result_of(Passing passing, bool is_aggregate = false) {
  passing.is_aggregate = is_aggregate;
  return seat_of_result(passing, false);
}

TEST(A64Result, OfANumberIsInX0) {
  EXPECT_EQ(result_of(kNumber).where, ResultSeat::Where::number);
  EXPECT_EQ(
      result_of({.way = Passing::Way::registers, .integer_registers = 2, .size_bytes = 16}).text,
      "in x0 and x1");
  EXPECT_EQ(result_of(kNumber, true).words, (ResultWords{0, std::nullopt}));
  EXPECT_EQ(result_of({.way = Passing::Way::nothing}).where, ResultSeat::Where::nothing);
  EXPECT_EQ(result_of({}).where, ResultSeat::Where::lost);
}

TEST(A64Result, OfFloatingPointIsInVectorRegisters) {
  const Passing long_double{.way = Passing::Way::stack, .size_bytes = 16, .alignment = 16};
  const Passing complex_float{
      .way = Passing::Way::registers, .vector_registers = 1, .size_bytes = 8, .alignment = 4};
  const Passing complex_long_double{.way = Passing::Way::stack, .size_bytes = 32, .alignment = 16};
  EXPECT_EQ(result_of(kDouble).text, "in v0, which no probe sees");
  EXPECT_EQ(result_of(long_double).text, "in v0, which no probe sees");
  EXPECT_EQ(result_of(complex_float).text, "in v0 and v1, which no probe sees");
  EXPECT_EQ(result_of(complex_long_double).text, "in v0 and v1, which no probe sees");
}

// x8 has the address of one in memory at the entry only.
TEST(A64Result, OfAnObjectIsShownNeitherInPartNorByAddress) {
  const Passing large{.way = Passing::Way::stack, .size_bytes = 32};
  EXPECT_EQ(result_of(large, true).where, ResultSeat::Where::elsewhere);
  EXPECT_EQ(result_of(kDouble, true).where, ResultSeat::Where::elsewhere);
  EXPECT_EQ(seat_of_result(kNumber, true).text, "in memory, whose address is not known any more");
}

// ---- addresses ----

TEST(A64Addresses, LoseTheirSignatures) {
  constexpr uint64_t kStack48 = 0xfffff1234567, kStack39 = 0x7ff1234567;
  EXPECT_EQ(without_signature(0x0035aaaabbbbcccc, kStack48), 0xaaaabbbbccccu);
  EXPECT_EQ(without_signature(0xff35aaaabbbbcccc & ~(uint64_t{1} << 55), kStack48),
            0xaaaabbbbccccu);
  EXPECT_EQ(without_signature(0x00352a5abbbbcccc, kStack39), 0x5abbbbccccu);
  EXPECT_EQ(without_signature(0x0035aaaabbbbcccc, ~uint64_t{0}), 0x0035aaaabbbbccccu);
  EXPECT_EQ(without_signature(0x0035aaaabbbbcccc, 0), 0x0035aaaabbbbccccu);
  EXPECT_EQ(without_signature(0x5abbbbcccc, kStack39), 0x5abbbbccccu);
  EXPECT_EQ(without_signature(0xffff800012345678, kStack48), 0xffff800012345678u);
}

}  // namespace
}  // namespace tracectl
