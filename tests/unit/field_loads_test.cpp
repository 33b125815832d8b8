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

// ---- texts ----

namespace {

// An object at 0x1000: a pointer to the 3 bytes behind it, a length, and a byte of flags.
const MachineHit kTextHit{
    .arguments = {},
    .values = {0x1000},
    .comm = {},
    .memory_start = 0x1000,
    .memory = std::string("\x18\x10\0\0\0\0\0\0\x03\0\0\0\0\0\0\0ab\0\0\0\0\0\x04xyzw", 28)};

ReachedField text_at(const std::string& path, std::optional<ShortText> when_short = {}) {
  return {.path = path, .offsets = {0}, .is_address = true, .text = TextPlace{0, 8, when_short}};
}

std::optional<std::string> read(const std::string& path, const ReachedField& field,
                                const MachineHit& text_hit = kTextHit) {
  const Arguments arguments = with_fields({field});
  const Spec spec = must(with_numbers(must(parse_spec("event(" + path + ")")), arguments));
  EXPECT_EQ(to_string(spec.values[0]), path);
  const ExprCode code = must(compile_value(spec.values[0], arguments));
  EXPECT_EQ(code.type, ValueType::string);
  MachineHit hit = text_hit;
  hit.arguments = arguments;
  const auto at = run(code, hit).value;
  return at ? read_text(hit, *at, code.most_bytes) : std::nullopt;
}

// Of the byte at 23, 4: a length of 2 whose lowest bit says that the text is long, or of 4 by the highest.
ShortText flags(uint8_t flag, uint8_t first_bit) { return {{23, flag, 1}, {23, first_bit, 7}, 16}; }

}  // namespace

TEST(FieldLoads, OfTextsReadTheirLength) {
  EXPECT_EQ(read("arg.p", text_at("arg.p")), "xyz");
  EXPECT_EQ(read("arg.p->name", text_at("arg.p->name")), "xyz");
}

// A text ends at a byte 0, as that of str() does.
TEST(FieldLoads, OfTextsWithinTheirObjectReadThoseThere) {
  EXPECT_EQ(read("arg.p", text_at("arg.p", flags(0, 1))), "ab");
  EXPECT_EQ(read("arg.p", text_at("arg.p", flags(7, 0))), "ab");
  MachineHit is_long = kTextHit;
  is_long.memory[23] = 5;
  EXPECT_EQ(read("arg.p", text_at("arg.p", flags(0, 1)), is_long), "xyz");
  is_long.memory[23] = '\x84';
  EXPECT_EQ(read("arg.p", text_at("arg.p", flags(7, 0)), is_long), "xyz");
}

TEST(FieldLoads, OfTextsAreForWhereATextCanStand) {
  const Arguments arguments = with_fields({text_at("arg.p"), text_at("arg.p->name")});
  const auto holds_text = [&](const std::string& text) {
    const Spec spec = must(with_numbers(Spec{.when = parsed_expr(text)}, arguments));
    MachineHit hit = kTextHit;
    hit.arguments = arguments;
    return run(must(compile_condition(*spec.when, arguments)), hit).value;
  };
  EXPECT_EQ(holds_text("arg.p == \"xyz\" && arg.p == 4096"), 1u);
  EXPECT_EQ(holds_text("arg.p->name =~ \"x*z\" && u8(arg.p) == 24"), 1u);
  EXPECT_EQ(holds_text("\"xy\" == arg.p || arg.p->name != \"xyz\""), 0u);
  const auto why = [&](const std::string& text) {
    const Spec spec = must(with_numbers(Spec{.when = parsed_expr(text)}, arguments));
    return compile_condition(*spec.when, arguments).error().message;
  };
  EXPECT_THAT(why("arg.p->name > 3"), HasSubstr("this is a text, not an integer"));
  EXPECT_THAT(why("str(arg.p->name) == \"a\""), HasSubstr("this is a text, not an integer"));
}

TEST(FieldLoads, OfNoTextAreNotComparedWithOne) {
  const Arguments arguments = with_fields({at("arg.p->a", {8}, 4, false)});
  for (const char* text : {"arg.p == \"x\"", "arg.p->a == \"x\""}) {
    const Spec spec = must(with_numbers(Spec{.when = parsed_expr(text)}, arguments));
    EXPECT_THAT(compile_condition(*spec.when, arguments).error().message,
                HasSubstr("this is an integer, compared with a string"));
  }
  ReachedField refused = text_at("arg.p");
  refused.why_not = "it is of an unknown library";
  EXPECT_EQ(with_numbers(Spec{.when = parsed_expr("1 && arg.p == \"x\"")}, with_fields({refused}))
                .error()
                .message,
            refused.why_not);
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
