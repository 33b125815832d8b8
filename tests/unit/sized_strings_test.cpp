// SPDX-License-Identifier: BSD-2-Clause
//
// str(E, LENGTH): the code that puts the length into the address, run by the machine of tests/support.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>

#include "daemon/spec/compile.h"
#include "daemon/spec/names.h"
#include "daemon/spec/parse.h"
#include "tests/support/fields.h"
#include "tests/support/machine.h"
#include "tests/support/must.h"
#include "tests/support/parsed_expr.h"

namespace tracectl {
namespace {

using on_kernel::must;

constexpr uint64_t kText = 0x1000;

// arg0 is the address of the memory, arg1 a signed length, arg2 an unsigned one.
Arguments sized_arguments() {
  Argument pointer{.place = Argument::Place::in_register};
  Argument length = pointer;
  length.size_bytes = 4;
  length.is_signed = true;
  return {pointer, length, pointer};
}

MachineHit hit_of_text(uint64_t address, uint64_t length) {
  return {
      .arguments = sized_arguments(),
      .values = {address, length, length},
      .comm = {},
      .memory_start = kText,
      .memory = "keyboard and\0more",
  };
}

// Of a condition.
std::optional<uint64_t> decided(const std::string& text, uint64_t length,
                                uint64_t address = kText) {
  return run(must(compile_condition(parsed_expr(text), sized_arguments())),
             hit_of_text(address, length))
      .value;
}

// The string's length in the address, and the address.
std::optional<std::pair<uint64_t, uint64_t>> packed_string(const std::string& text, uint64_t length,
                                                           uint64_t address = kText) {
  const Spec spec = must(parse_spec("event(" + text + ")"));
  const ExprCode code = must(compile_value(spec.values[0], sized_arguments()));
  EXPECT_EQ(code.most_bytes, TC_STR_LEN | TC_STR_SIZED);
  const auto value = run(code, hit_of_text(address, length)).value;
  if (!value) return std::nullopt;
  return std::pair{*value >> TC_ADDRESS_BITS, *value & ((uint64_t{1} << TC_ADDRESS_BITS) - 1)};
}

}  // namespace

TEST(SizedStrings, EndAtTheirLength) {
  EXPECT_EQ(decided("str(arg0, arg1) == \"key\"", 3), 1u);
  EXPECT_EQ(decided("str(arg0, arg1) == \"key\"", 4), 0u);
  EXPECT_EQ(decided("str(arg0 + 3, arg2 - 3) == \"board\"", 8), 1u);
  EXPECT_EQ(decided("str(arg0, arg2) =~ \"*b\"", 4), 1u);
  EXPECT_EQ(decided("str(arg0, arg2) != \"\"", 0), 0u);
}

TEST(SizedStrings, HaveAtMost64Bytes) {
  using Packed = std::pair<uint64_t, uint64_t>;
  EXPECT_EQ(packed_string("str(arg0, arg1)", 64), (Packed{64, kText}));
  EXPECT_EQ(packed_string("str(arg0, arg1)", 65), (Packed{64, kText}));
  EXPECT_EQ(packed_string("str(arg0, arg2)", UINT64_MAX), (Packed{64, kText}));
  EXPECT_EQ(packed_string("str(arg0, arg1 & 7)", 13), (Packed{5, kText}));
  EXPECT_EQ(packed_string("str(arg0, arg1)", 0, 0), (Packed{0, 0}));
}

TEST(SizedStrings, HaveNoValueIfTheLengthIsBelow0) {
  EXPECT_EQ(packed_string("str(arg0, arg1)", static_cast<uint32_t>(-1)), std::nullopt);
  EXPECT_EQ(decided("str(arg0, arg1) != \"key\"", static_cast<uint32_t>(-1)), std::nullopt);
}

// Its upper bits would be taken for a length.
TEST(SizedStrings, AreNotReadAtWhatIsNoAddress) {
  EXPECT_EQ(packed_string("str(arg0, arg1)", 3, uint64_t{1} << TC_ADDRESS_BITS | kText),
            std::nullopt);
  EXPECT_EQ(packed_string("str(arg0, arg1)", 3, UINT64_MAX), std::nullopt);
}

TEST(SizedStrings, AreWrittenAsTheyAreRead) {
  for (const char* text : {"str(arg0, arg1) == \"a\"", "str(arg.p->buf, arg.p->len - 1) =~ \"a*\"",
                           "str(u64(arg0 + 8), u32(arg0)) != \"a\"", "str(arg0, 8) == \"a\""})
    EXPECT_EQ(to_string(parsed_expr(text)), text);
  EXPECT_FALSE(parsed_expr("str(arg0, arg1) == \"a\"") == parsed_expr("str(arg0, arg2) == \"a\""));
}

TEST(SizedStrings, NeedAnIntegerAsLength) {
  expect_field_refused("str(arg0, comm) == \"a\"", 10, "comm is a string, not an integer");
  expect_field_refused("str(arg0, str(arg1)) == \"a\"", 10, "str() is a string, not an integer");
  expect_field_refused("str(arg0, ) == \"a\"", 10, "is not expected here");
  expect_field_refused("cstr(arg0, arg1) == \"a\"", 11, "the most bytes, an integer");
}

}  // namespace tracectl
