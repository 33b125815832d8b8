// SPDX-License-Identifier: BSD-2-Clause
//
// Fields by name. The programs are tests/targets/fields*.c*; the expected places are the compiler's, by offsetof.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "daemon/model/field_path.h"
#include "daemon/model/setting.h"
#include "daemon/object/demangle.h"
#include "daemon/object/parameters.h"
#include "daemon/object/probes.h"
#include "daemon/spec/compile.h"
#include "daemon/spec/names.h"
#include "daemon/spec/parse.h"
#include "tests/support/machine.h"
#include "tests/support/must.h"
#include "tests/support/parsed_expr.h"
#include "tests/support/program.h"
#include "tests/targets/fields.h"

namespace tracectl {
namespace {

using on_kernel::must;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Offsets = std::vector<uint64_t>;

Function function_of(const ElfFile& file, const std::string& name) {
  for (const Function& function : file.functions()) {
    const std::string plain = demangle(function.name).value_or(function.name);
    if (plain.substr(0, plain.find('(')) == name) return function;
  }
  ADD_FAILURE() << "no function " << name;
  return {};
}

// The field that the path leads to from an argument or the result of a target's function.
ReachedField field_in(const std::string& target, const std::string& name, const std::string& path) {
  const std::string file_path = on_kernel::target_path(target.c_str());
  const ElfFile file = must(
      ElfFile::open(Fd{::open(file_path.c_str(), O_RDONLY | O_CLOEXEC)}.get(), file_path, "/none"));
  FunctionParameters parameters(file, {path});
  const Function function = function_of(file, name);
  Arguments all = parameters.of(function).value_or(Arguments{});
  all.push_back(parameters.result_of(function));
  for (const Argument& one : all)
    if (one.asked_fields) return one.asked_fields->at(0);
  ADD_FAILURE() << "nothing knows " << path;
  return {};
}

std::shared_ptr<const ReachedFields> fields_of_first(FunctionParameters& parameters,
                                                     const ElfFile& file, const char* function) {
  return parameters.of(function_of(file, function)).value().at(0).asked_fields;
}

void expect_refused(const std::string& text, size_t column, const std::string& part) {
  const auto expr = parse_condition(text);
  ASSERT_FALSE(expr) << text;
  EXPECT_EQ(expr.error().spot.value_or(Spot{}), (Spot{text, column}));
  EXPECT_THAT(expr.error().message, HasSubstr(part)) << text;
}

}  // namespace

// ---- paths ----

TEST(FieldPaths, AreTakenApartByTheirSteps) {
  using Kind = FieldPath::Step::Kind;
  const FieldPath path = must(parse_field_path("*arg.req->uri.list[12]"));
  EXPECT_EQ(path.base, "arg.req");
  ASSERT_EQ(path.steps.size(), 4u);
  EXPECT_EQ(path.steps[0].kind, Kind::arrow);
  EXPECT_EQ(path.steps[0].name, "uri");
  EXPECT_EQ(path.steps[1].kind, Kind::dot);
  EXPECT_EQ(path.steps[1].column, 13u);
  EXPECT_EQ(path.steps[2].index, 12u);
  EXPECT_EQ(path.steps[3].kind, Kind::index);  // the star, last
  EXPECT_EQ(path.steps[3].column, 0u);
  for (const char* wrong :
       {"", "arg", "arg0", "arg.a->", "arg.a[", "arg.a[x]", "arg.a[1", "pid->a", "arg.a b->c"})
    EXPECT_FALSE(parse_field_path(wrong)) << wrong;
}

TEST(FieldPaths, AreWrittenAsInC) {
  for (const char* text :
       {"arg.req->uri.len == 3", "arg0[3].name == 0", "*arg.p > 1", "**arg.p[2] == 1",
        "retval->status == 0", "-arg.a->b * *arg.c == 1", "str(arg.p->text, 8) == \"a\""})
    EXPECT_EQ(to_string(parsed_expr(text)), text);
  EXPECT_EQ(to_string(parsed_expr("args.p->n==1")), "arg.p->n == 1");
  EXPECT_EQ(parsed_expr("5 * *arg.p == 1"), parsed_expr("5**arg.p == 1"));
  EXPECT_FALSE(parsed_expr("arg.p->a == 1") == parsed_expr("arg.p->b == 1"));
  EXPECT_EQ(parsed_expr("arg0 - 1 > 2").children[0].kind, Expr::Kind::binary);
}

TEST(FieldPaths, ThatCannotBeMeantAreRefused) {
  expect_refused("arg.p[tid] == 1", 5, "the index of an array is a number");
  expect_refused("arg.p-> == 1", 6, "\">\" is not expected");
  expect_refused("1 == *pid", 5, "* takes an argument or retval");
  expect_refused("*(arg0 + 8) == 1", 0, "u64(E) reads memory");
  expect_refused("arg12->n == 1", 0, "arg0 to arg11");
  expect_refused("arg.p[9999999999] == 1", 0, "an index is at most 1073741824");
  expect_refused("arg.p->text == \"a\"", 0, "str(E) reads a string");
}

TEST(FieldPaths, HaveALimitOfSteps) {
  std::string path = "arg.p";
  for (size_t i = 0; i < FieldPath::kMostSteps; ++i) path += "->n";
  EXPECT_TRUE(parse_condition(path + " == 1"));
  expect_refused(path + "->n == 1", 0, "16 steps at most");
  expect_refused("*" + path + " == 1", 0, "16 steps at most");
}

TEST(FieldPaths, OfASettingAreListedOnce) {
  Setting setting;
  setting.spec =
      must(parse_spec("event(arg.p->b, str(arg.p->a)), count by arg.p->b, sum(retval->n + arg0)"));
  setting.spec.when = parsed_expr("arg.q[1] > 0");
  EXPECT_THAT(field_paths_of(setting),
              ElementsAre("arg.p->a", "arg.p->b", "arg.q[1]", "retval->n"));
}

TEST(FieldPaths, OfASettingAreNotTooMany) {
  const auto with = [](size_t count) {
    Setting setting;
    std::string when = "arg0->f == 1";
    for (size_t i = 1; i < count; ++i) when += " || arg0->f" + std::to_string(i) + " == arg0->f";
    setting.spec.when = parsed_expr(when);
    return check_field_paths(setting);
  };
  EXPECT_TRUE(with(kMostFieldPaths));
  EXPECT_THAT(with(kMostFieldPaths + 1).error().message,
              HasSubstr("name 33 different fields, and may name 32"));
}

TEST(FieldPaths, ThatWereFoundCountInTheLimitOfBytesOnce) {
  Argument argument;
  argument.asked_fields = std::make_shared<const ReachedFields>(
      ReachedFields{ReachedField{.path = "arg0->a", .why_not = std::string(1000, 'x')}});
  Site site;
  site.args = std::make_shared<const Arguments>(Arguments{argument});
  ReturnPlan plan;
  plan.result = argument;
  site.returns = std::make_shared<const ReturnPlan>(plan);
  MatchCount count;
  count.add(Probe{.name = "p", .demangled = {}, .sites = {site, site}});
  EXPECT_FALSE(count.check({.bytes = 1000}));
  EXPECT_TRUE(count.check({.bytes = 1500}));
  argument.asked_fields = std::make_shared<const ReachedFields>(*argument.asked_fields);
  plan.result = argument;
  site.returns = std::make_shared<const ReturnPlan>(plan);
  count.add(Probe{.name = "q", .demangled = {}, .sites = {site}});
  EXPECT_FALSE(count.check({.bytes = 2000}));
}

// ---- places ----

class FieldPlaces : public ::testing::TestWithParam<const char*> {
 protected:
  ReachedField field(const std::string& function, const std::string& path) const {
    return field_in(GetParam(), function, path);
  }
  Offsets offsets(const std::string& path, const std::string& function = "handle") const {
    const ReachedField found = field(function, path);
    EXPECT_EQ(found.why_not, "") << path;
    return found.offsets;
  }
  void expect_none(const std::string& path, size_t column, const std::string& why,
                   const std::string& function = "handle") const {
    const ReachedField found = field(function, path);
    EXPECT_THAT(found.why_not, HasSubstr(why)) << path;
    EXPECT_EQ(found.column, column) << path;
  }
};

TEST_P(FieldPlaces, AreTheCompilers) {
  EXPECT_EQ(offsets("arg.request->octet"), Offsets{offsetof(request, octet)});
  EXPECT_EQ(offsets("arg0->uri.len"), Offsets{offsetof(request, uri.len)});
  EXPECT_EQ(offsets("arg.request->number"), Offsets{offsetof(request, number)});
  EXPECT_EQ(offsets("arg.request->list[3].weight"), Offsets{offsetof(request, list[3].weight)});
  EXPECT_EQ(offsets("arg.request->grid[1][2]"), Offsets{offsetof(request, grid[1][2])});
  EXPECT_EQ(offsets("arg.request[2].label"),
            Offsets{2 * sizeof(request) + offsetof(request, label)});
  EXPECT_EQ(offsets("arg.request->next->other->len"),
            (Offsets{offsetof(request, next), offsetof(request, other), offsetof(uri, len)}));
  EXPECT_EQ(offsets("**arg.pp", "elements"), (Offsets{0, 0}));
  EXPECT_EQ(offsets("arg.rows[1][2]", "elements"), Offsets{5 * sizeof(int)});
}

TEST_P(FieldPlaces, HaveTheTypesOfTheFields) {
  const auto type = [&](const char* path) { return field("handle", path).type; };
  EXPECT_EQ(type_name(type("arg.request->grade")), "s8");
  EXPECT_EQ(type_name(type("arg.request->uri.len")), "u64");
  EXPECT_EQ(type("arg.request->uri.text").kind, Argument::Kind::text);
  EXPECT_EQ(type("arg.request->urgent").kind, Argument::Kind::boolean);
  EXPECT_THAT(*type("arg.request->state").enumerators,
              ElementsAre(Enumerator{"IDLE", 0}, Enumerator{"RUNNING", 7}));
  EXPECT_TRUE(type("arg.request->level").is_signed);
  const ReachedField label = field("handle", "arg.request->label");
  EXPECT_TRUE(label.is_address);
  EXPECT_EQ(label.type.kind, Argument::Kind::text);
}

TEST_P(FieldPlaces, OfResultsAreThoseOfWhatTheyPointTo) {
  EXPECT_EQ(offsets("retval->state", "made"), Offsets{offsetof(request, state)});
  EXPECT_EQ(offsets("retval.n[2]", "filled"), Offsets{offsetof(large, n[2])});
}

TEST_P(FieldPlaces, ThatDoNotExistAreRefusedWithTheNearest) {
  expect_none("arg.request->urgnt", 13,
              "struct request has no field \"urgnt\": it has id, delta, wide");
  expect_none("arg.request->urgnt", 13, "; did you mean \"urgent\"?");
  expect_none("arg.request->uri.length", 17,
              "struct uri has no field \"length\": it has text, len");
}

TEST_P(FieldPlaces, ThatAreReachedInAnotherWayAreRefusedWithIt) {
  expect_none("arg.request.id", 12, "arg.request is of type struct request *: write ->id");
  expect_none("arg.request->uri->len", 18,
              "arg.request->uri is of type const struct uri, no pointer: write .len");
  expect_none("arg.request->state.x", 19, "which has no fields");
  expect_none("arg.request->octet[0]", 18, "no pointer");
  expect_none("arg.request->list[4].name", 17, "arg.request->list has 4 elements: [0] to [3]");
  expect_none("arg.n->x", 7, "arg.n is of type int, no pointer");
}

TEST_P(FieldPlaces, WithoutAValueAreRefused) {
  expect_none("arg.request->ratio", 13, "this is a float (double), not an integer");
  expect_none("arg.request->uri", 13, "name one of its fields, text, len");
  expect_none("*arg.request", 0,
              "this is a whole struct request: name one of its fields, id, delta");
  expect_none("*arg.request->any", 0,
              "arg.request->any is of type void *, and nothing says what it points to");
  expect_none("arg.request->hidden->x", 21,
              "struct opaque is only declared where this function was compiled");
}

INSTANTIATE_TEST_SUITE_P(Compiled, FieldPlaces,
                         ::testing::Values("fields", "fields_dwarf4", "fields_clang"),
                         [](const auto& one) { return std::string(one.param); });

TEST(FieldPlaces, OfOneTypeAreLookedForOnce) {
  const std::string path = on_kernel::target_path("fields");
  const ElfFile file =
      must(ElfFile::open(Fd{::open(path.c_str(), O_RDONLY | O_CLOEXEC)}.get(), path, "/none"));
  FunctionParameters parameters(file, {"arg.request->id", "arg0->octet", "arg.items->weight"});
  const auto fields = fields_of_first(parameters, file, "handle");
  ASSERT_TRUE(fields);
  EXPECT_EQ(fields, fields_of_first(parameters, file, "made"));
  EXPECT_THAT(*fields, ElementsAre(::testing::Field(&ReachedField::path, "arg.request->id"),
                                   ::testing::Field(&ReachedField::path, "arg0->octet")));
  EXPECT_EQ(fields_of_first(parameters, file, "elements")->back().path, "arg.items->weight");
}

TEST(OddFieldPlaces, OfArraysNeedTheSizesOfTheirElements) {
  const auto field = [](const char* path) { return field_in("fields_odd", "grids", path); };
  EXPECT_THAT(field("arg.cube[0][1][2]").why_not,
              HasSubstr("the size of an element of arg.cube[0] is not known"));
  EXPECT_EQ(field("arg.cube[0][0][2]").offsets, Offsets{2 * sizeof(int)});
}

TEST(OddFieldPlaces, FartherThanAddressesReachAreRefused) {
  const auto field = [](const char* path) { return field_in("fields_odd", "vast", path); };
  EXPECT_EQ(field("arg.p[1073741824].far[0][5]").why_not, "this is too far away");
  EXPECT_EQ(field("arg.p->far[1][5]").offsets, Offsets{(1 << 20) + 5});
}

TEST(OddFieldPlaces, OfDecimalFloatsAreRefused) {
  EXPECT_EQ(field_in("fields_odd", "odd", "arg.p->price").why_not,
            "this is of type _Decimal64, which expressions cannot read");
}

class CxxFieldPlaces : public FieldPlaces {};

TEST_P(CxxFieldPlaces, AreThoseOfBasesToo) {
  const std::string add = "shop::Cart::add";
  const Offsets in_base = offsets("arg.this->count", add);
  ASSERT_EQ(in_base.size(), 1u);
  EXPECT_GE(in_base[0], 2 * sizeof(void*));  // behind what the first base has
  EXPECT_GT(offsets("arg.this->hidden", add)[0], in_base[0] + sizeof(int));
  EXPECT_EQ(offsets("arg.this->total_", add).size(), 2u);  // by a reference
  EXPECT_EQ(offsets("arg.item.hidden", add), Offsets{sizeof(int)});
  EXPECT_EQ(offsets("arg.copied.number", "shop::take"), Offsets{0});
  EXPECT_EQ(offsets("arg.pointer->hidden", "shop::take"), (Offsets{0, sizeof(int)}));
}

TEST_P(CxxFieldPlaces, WithoutAFixedPlaceAreRefused) {
  const std::string add = "shop::Cart::add";
  expect_none("arg.this->far", 10, "and those of a virtual base", add);
  expect_none("arg.this->all", 10, "has no field \"all\"", add);
  expect_none("arg.item->count", 10, "no pointer: write .count", add);
}

INSTANTIATE_TEST_SUITE_P(Compiled, CxxFieldPlaces,
                         ::testing::Values("fields_cxx", "fields_cxx_clang"),
                         [](const auto& one) { return std::string(one.param); });

// ---- loads ----

namespace {

// arg0 is a pointer p to 16 bytes of memory, with these fields.
Arguments with_fields(ReachedFields fields) {
  Argument pointer{.place = Argument::Place::in_register, .name = "p"};
  pointer.asked_fields = std::make_shared<const ReachedFields>(std::move(fields));
  return {pointer};
}

ReachedField at(const std::string& path, Offsets offsets, uint8_t size_bytes, bool is_signed) {
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
  expect_refused("arg0 == RUNNING", 8, "unknown name \"RUNNING\"");
  expect_refused("arg.state == RUNNING + 1", 13, "unknown name \"RUNNING\"");
  expect_refused("RUNNING == arg.state", 0, "unknown name \"RUNNING\"");
  expect_refused("arg.state == RUNNING(1)", 13, "unknown name \"RUNNING\"");
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
