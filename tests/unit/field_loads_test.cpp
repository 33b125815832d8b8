// SPDX-License-Identifier: BSD-2-Clause
//
// The loads that compute fields by name, and the values of enumerations by name.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "daemon/spec/compile.h"
#include "daemon/spec/names.h"
#include "tests/support/fields.h"
#include "tests/support/machine.h"
#include "tests/support/parsed_expr.h"

namespace tracectl {
namespace {

using on_kernel::must;
using ::testing::HasSubstr;

}  // namespace

// ---- loads ----

namespace {

// arg0 is a pointer p to 16 bytes of memory, with these fields.
Arguments with_fields(ReachedFields fields) {
  Argument pointer{.place = Argument::Place::in_register, .name = "p"};
  pointer.asked_fields = std::make_shared<const ReachedFields>(std::move(fields));
  return {pointer};
}

ReachedField at(const std::string& path, std::vector<uint64_t> offsets, uint8_t size_bytes,
                bool is_signed) {
  ReachedField field{.path = path, .offsets = std::move(offsets)};
  field.type.size_bytes = size_bytes;
  field.type.is_signed = is_signed;
  return field;
}

ReachedField bits(const std::string& path, uint8_t size_bytes, bool is_signed, uint8_t first,
                  uint8_t count) {
  ReachedField field = at(path, {0}, size_bytes, is_signed);
  field.first_bit = first;
  field.bit_count = count;
  return field;
}

// Of an event's value.
std::optional<uint64_t> loaded(const std::string& text, const Arguments& arguments,
                               uint64_t p = 0x1000) {
  const Spec spec = must(with_numbers(must(parse_spec("event(" + text + ")")), arguments));
  const MachineHit hit{
      .arguments = arguments,
      .values = {p},
      .comm = {},
      .memory_start = 0x1000,
      .memory = std::string("\x08\x10\0\0\0\0\0\0\x85\xff\xff\xff\xff\xff\xff\x9f", 16)};
  return run(must(compile_value(spec.values[0], arguments)), hit).value;
}

}  // namespace

TEST(FieldLoads, FollowPointers) {
  const Arguments arguments =
      with_fields({at("arg.p->a", {8}, 1, true), at("arg.p->b", {8}, 2, false),
                   at("arg.p->c->d", {0, 1}, 4, true), at("arg.p->e->f", {0, 0x100}, 4, true)});
  EXPECT_EQ(loaded("arg.p->a", arguments), static_cast<uint64_t>(-123));
  EXPECT_EQ(loaded("arg.p->b + 1", arguments), 0xff86u);
  EXPECT_EQ(loaded("arg.p->c->d", arguments), UINT64_MAX);
  EXPECT_EQ(loaded("arg.p->e->f", arguments), std::nullopt);  // this cannot be read
  EXPECT_EQ(loaded("arg.p->a", arguments, 0), std::nullopt);
}

TEST(FieldLoads, TakeBitsOutOfTheirIntegers) {
  const auto value = [](ReachedField field) { return loaded(field.path, with_fields({field})); };
  ReachedField field = bits("arg.p->x", 1, false, 0, 3);
  field.offsets = {8};
  EXPECT_EQ(value(field), 5u);
  field.type.is_signed = true;
  EXPECT_EQ(value(field), static_cast<uint64_t>(-3));
  field.first_bit = 2;
  EXPECT_EQ(value(field), 1u);
  field = bits("arg.p->x", 8, false, 0, 64);
  field.offsets = {8};
  EXPECT_EQ(value(field), 0x9fffffffffffff85u);
  field.first_bit = 60;
  field.bit_count = 4;
  EXPECT_EQ(value(field), 9u);
  field.type.is_signed = true;
  EXPECT_EQ(value(field), static_cast<uint64_t>(-7));
}

TEST(FieldLoads, AreThoseThatOneCouldWrite) {
  const Arguments arguments = with_fields({at("arg.p->a->b", {16, 8}, 4, false)});
  const auto code_of = [&](const std::string& text) {
    const Spec spec = must(with_numbers(Spec{.when = parsed_expr(text)}, arguments));
    return must(compile_condition(*spec.when, arguments)).insns.size();
  };
  EXPECT_EQ(code_of("arg.p->a->b == 3"), code_of("u32(u64(arg.p + 16) + 8) == 3"));
}

// ---- values of enumerations by name ----

namespace {

const Enumerators kStates = {{"IDLE", 0}, {"RUNNING", 7}, {"GONE", -2}};

// arg0 is the enumeration `state`, arg1 the pointer of with_fields() to such a field.
Arguments with_states() {
  Argument state{.place = Argument::Place::in_register,
                 .kind = Argument::Kind::enumeration,
                 .is_signed = true};
  state.name = "state";
  state.declared_type = "enum state";
  state.enumerators = std::make_shared<const Enumerators>(kStates);
  ReachedField field = at("arg.p->state", {12}, 4, true);
  field.type.enumerators = state.enumerators;
  Arguments arguments = with_fields({field});
  arguments.insert(arguments.begin(), state);
  return arguments;
}

Result<Spec> resolved(const std::string& text, const Argument* result = nullptr) {
  return with_numbers(Spec{.when = parsed_expr(text)}, with_states(), result);
}

std::optional<uint64_t> holds(const std::string& text, int64_t state) {
  const MachineHit hit{.arguments = with_states(),
                       .values = {static_cast<uint64_t>(state), 0x1000},
                       .comm = {},
                       .memory_start = 0x1000,
                       .memory = std::string("\0\0\0\0\0\0\0\0\0\0\0\0\x07\0\0\0", 16)};
  return run(must(compile_condition(*must(resolved(text)).when, with_states())), hit).value;
}

}  // namespace

TEST(EnumeratorNames, StandForTheirValues) {
  EXPECT_EQ(holds("arg.state == RUNNING", 7), 1u);
  EXPECT_EQ(holds("arg.state == RUNNING", 0), 0u);
  EXPECT_EQ(holds("arg.state < IDLE && arg.state == GONE", -2), 1u);
  EXPECT_EQ(holds("arg.p->state != RUNNING || pid == 1", 0), 0u);
  Argument result = with_states()[0];
  EXPECT_EQ(must(resolved("retval == GONE", &result)).when->children[1].number,
            static_cast<uint64_t>(-2));
  EXPECT_EQ(to_string(parsed_expr("(arg.p->state==RUNNING) + 1 > 1")),
            "(arg.p->state == RUNNING) + 1 > 1");
}

TEST(EnumeratorNames, ThatAreNoneAreRefusedWithTheNearest) {
  const auto error_of = [](const std::string& text) { return resolved(text).error(); };
  EXPECT_EQ(
      error_of("pid > 1 && arg.state == RUNING").message,
      "unknown name \"RUNING\": enum state has IDLE, RUNNING, GONE; did you mean \"RUNNING\"?");
  EXPECT_EQ(error_of("pid > 1 && arg.state == RUNING").spot->column, 24u);
  EXPECT_THAT(error_of("arg.p == RUNNING").message, HasSubstr("arg.p is no enumeration"));
  EXPECT_THAT(error_of("retval == RUNNING").message, HasSubstr("retval is no enumeration"));
  expect_field_refused("arg0 == RUNNING", 8, "unknown name \"RUNNING\"");
  expect_field_refused("arg.state == RUNNING + 1", 13, "unknown name \"RUNNING\"");
  expect_field_refused("RUNNING == arg.state", 0, "unknown name \"RUNNING\"");
  expect_field_refused("arg.state == RUNNING(1)", 13, "unknown name \"RUNNING\"");
}

TEST(EnumeratorNames, ThatExpressionsCannotMeanAreRefusedWithTheNumber) {
  const auto error_of = [](const std::string& path, const std::string& name) {
    const Arguments arguments = with_fields({field_in("fields_odd", "odd", path)});
    const auto numbered = with_numbers(Spec{.when = parsed_expr(path + " == " + name)}, arguments);
    return numbered ? "" : numbered.error().message;
  };
  EXPECT_EQ(error_of("arg.p->big", "NONE"), "");
  EXPECT_THAT(error_of("arg.p->big", "ALL"), HasSubstr(": write 18446744073709551615"));
  EXPECT_EQ(error_of("arg.p->many", "A000"), "");
  EXPECT_THAT(error_of("arg.p->many", "LAST"),
              HasSubstr("only the first 256 values are known by name: write the number"));
}

TEST(EnumeratorNames, OfOtherValuesAreAnotherSpec) {
  const Spec spec{.when = parsed_expr("arg.state == RUNNING")};
  Arguments changed = with_states();
  changed[0].enumerators = std::make_shared<const Enumerators>(Enumerators{{"RUNNING", 8}});
  EXPECT_NE(must(compiled_from(spec, with_states())), must(compiled_from(spec, changed)));
}

TEST(FieldLoads, OfAnotherShapeAreAnotherSpec) {
  const Spec spec{.when = parsed_expr("arg.p->a == 3")};
  const auto from = [&](uint64_t offset) {
    return must(compiled_from(spec, with_fields({at("arg.p->a", {offset}, 4, false)})));
  };
  EXPECT_EQ(from(8), from(8));
  EXPECT_NE(from(8), from(16));
}

TEST(FieldLoads, ErrorsPointAtThePart) {
  ReachedField missing{.path = "arg.p->wrong", .why_not = "no such field"};
  missing.column = 7;
  const Arguments arguments = with_fields({missing});
  const auto error_of = [&](const std::string& text) {
    return with_numbers(Spec{.when = parsed_expr(text)}, arguments).error();
  };
  EXPECT_EQ(error_of("pid > 1 && arg.p->wrong == 1").spot->column, 18u);
  EXPECT_EQ(error_of("arg.p->wrong == 1").message, "no such field");
  EXPECT_THAT(error_of("arg.p->other == 1").message,
              HasSubstr("the fields of arg.p are not known here"));
  EXPECT_THAT(error_of("retval->other == 1").message,
              HasSubstr("the fields of retval are not known here"));
  EXPECT_THAT(error_of("arg.q->other == 1").message,
              HasSubstr("there is no argument \"q\" here: p"));
}

}  // namespace tracectl
