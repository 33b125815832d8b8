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
#include "daemon/object/parameters.h"
#include "daemon/object/probes.h"
#include "daemon/spec/compile.h"
#include "daemon/spec/names.h"
#include "daemon/spec/parse.h"
#include "tests/support/fields.h"
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

std::shared_ptr<const ReachedFields> fields_of_first(FunctionParameters& parameters,
                                                     const ElfFile& file, const char* function) {
  return parameters.of(function_with_name(file, function)).value().at(0).asked_fields;
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

TEST(FieldPaths, WithCastsApplyThemAsInC) {
  using Kind = FieldPath::Step::Kind;
  const FieldPath path = must(parse_field_path("*((const struct  conn*) arg.p->data)->fds"));
  EXPECT_EQ(path.text, "*((struct conn *)arg.p->data)->fds");
  ASSERT_EQ(path.steps.size(), 4u);
  EXPECT_EQ(path.steps[0].name, "data");
  EXPECT_EQ(path.steps[1].kind, Kind::cast);
  EXPECT_EQ(path.steps[1].name, "struct conn");
  EXPECT_EQ(path.steps[1].index, 1u);
  EXPECT_EQ(path.steps[1].column, 2u);
  EXPECT_EQ(path.text.substr(path.steps[1].operand_start, 11), "arg.p->data");
  EXPECT_EQ(path.steps[2].name, "fds");
  EXPECT_EQ(path.steps[3].kind, Kind::index);
  EXPECT_EQ(must(parse_field_path("(ns::Map<int, char *> **)args.x")).text,
            "(ns::Map<int, char *> **)arg.x");
  for (const char* wrong : {"(struct conn)arg0", "(struct conn *)pid", "(struct conn *)",
                            "((struct conn *)arg0", "(*)arg0", "(struct conn *)arg0)"})
    EXPECT_FALSE(parse_field_path(wrong)) << wrong;
  EXPECT_FALSE(parse_field_path(std::string(5000, '(') + "arg0"));
}

TEST(FieldPaths, WithCastsArePartsOfExpressions) {
  for (const char* text :
       {"((struct conn *)arg0)->fd == 3", "(*arg.p)[2] == 1", "*(unsigned long *)arg0 + 1 > 2",
        "(arg0 + 8) * pid == 1", "(arg0) == 1 || (arg.p->n) == 2",
        "str(((ns::Type *)arg.p->any)->name) == \"a\"",
        "-((struct c *)retval)->n * 2 == (arg0 - 1) * 3"})
    EXPECT_TRUE(parse_condition(text)) << text;
  EXPECT_EQ(to_string(parsed_expr("((struct conn*)args.p)->fd==3")),
            "((struct conn *)arg.p)->fd == 3");
  EXPECT_EQ(parsed_expr("((struct c *)arg0)->state == RUNNING").children[1].kind,
            Expr::Kind::enumerator);
  EXPECT_EQ(parsed_expr("(arg0) == 1"), parsed_expr("arg0 == 1"));
  expect_field_refused("1 == (struct conn *)pid", 5,
                       "a cast is one of an argument, retval or a field");
}

TEST(FieldPaths, ThatCannotBeMeantAreRefused) {
  expect_field_refused("arg.p[tid] == 1", 5, "the index of an array is a number");
  expect_field_refused("arg.p-> == 1", 6, "\">\" is not expected");
  expect_field_refused("1 == *pid", 5, "* takes an argument or retval");
  expect_field_refused("*(arg0 + 8) == 1", 0, "u64(E) reads memory");
  expect_field_refused("arg12->n == 1", 0, "arg0 to arg11");
  expect_field_refused("arg.p[9999999999] == 1", 0, "an index is at most 1073741824");
}

TEST(FieldPaths, HaveALimitOfSteps) {
  std::string path = "arg.p";
  for (size_t i = 0; i < FieldPath::kMostSteps; ++i) path += "->n";
  EXPECT_TRUE(parse_condition(path + " == 1"));
  expect_field_refused(path + "->n == 1", 0, "16 steps at most");
  expect_field_refused("*" + path + " == 1", 0, "16 steps at most");
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

TEST_P(FieldPlaces, OfCastsAreThoseOfTheNamedType) {
  const auto erased = [&](const char* path) { return offsets(path, "erased"); };
  EXPECT_EQ(erased("((struct request *)arg.context)->octet"), Offsets{offsetof(request, octet)});
  EXPECT_EQ(erased("((struct request *)arg0)->next->uri.len"),
            (Offsets{offsetof(request, next), offsetof(request, uri.len)}));
  EXPECT_EQ(erased("((item *)arg.number)[2].weight"),
            Offsets{2 * sizeof(item) + offsetof(item, weight)});
  EXPECT_EQ(erased("*(unsigned long *)arg1"), Offsets{0});
  EXPECT_EQ(erased("(*(struct request **)arg1)->grade"), (Offsets{0, offsetof(request, grade)}));
  EXPECT_EQ(offsets("((struct uri *)arg.request->any)->len"),
            (Offsets{offsetof(request, any), offsetof(uri, len)}));
  EXPECT_EQ(erased("(struct request *)arg0"), Offsets{});
  EXPECT_EQ(field("erased", "(struct request *)arg0").type.declared_type, "struct request *");
  EXPECT_THAT(*field("erased", "((struct request *)arg0)->state").type.enumerators,
              ElementsAre(Enumerator{"IDLE", 0}, Enumerator{"RUNNING", 7}));
}

TEST_P(FieldPlaces, OfCastsThatMeanNothingAreRefused) {
  expect_none("((struct requst *)arg0)->id", 1,
              "there is no type \"struct requst\" where this function was compiled", "erased");
  expect_none("((struct requst *)arg0)->id", 1, "; did you mean \"request\"?", "erased");
  expect_none("((struct opaque *)arg0)->id", 1, "struct opaque is defined by none of the units",
              "erased");
  expect_none("((struct item *)arg0)->id", 1, "there is no type \"struct item\"", "erased");
  expect_none("((struct uri *)arg.request->octet)->len", 1,
              "arg.request->octet is of type unsigned char, which is no address");
  expect_none("((struct uri *)arg.request->list)->len", 1, "which is no address");
  expect_none("((struct uri *)arg0)->length", 22, "struct uri has no field \"length\"", "erased");
  expect_none("((struct uri *)arg0).len", 21,
              "((struct uri *)arg0) is of type struct uri *: write ->len", "erased");
  expect_none("*(struct uri *)arg0", 0, "this is a whole struct uri", "erased");
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
  expect_none("arg.request->uri", 13, "name one of its fields, text, len");
  expect_none("*arg.request", 0,
              "this is a whole struct request: name one of its fields, id, delta");
  expect_none("*arg.request->any", 0,
              "arg.request->any is of type void *, and nothing says what it points to");
  expect_none("arg.request->hidden->x", 21, "struct opaque is defined by none of the units");
}

INSTANTIATE_TEST_SUITE_P(Compiled, FieldPlaces,
                         ::testing::Values("fields", "fields_dwarf4", "fields_clang"),
                         [](const auto& one) { return std::string(one.param); });

TEST(PlainFieldPlaces, OfOneTypeAreLookedForOnce) {
  const std::string path = on_kernel::target_path("fields");
  const ElfFile file =
      must(ElfFile::open(Fd{::open(path.c_str(), O_RDONLY | O_CLOEXEC)}.get(), path, "/none"));
  FunctionParameters parameters(file,
                                {.paths = {"arg.request->id", "arg0->octet", "arg.items->weight"}});
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

}  // namespace tracectl
