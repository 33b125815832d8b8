// SPDX-License-Identifier: BSD-2-Clause
//
// Lists of the fields that arguments lead to. The programs are tests/targets/fields*.c*.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "daemon/model/field_path.h"
#include "daemon/object/parameters.h"
#include "tests/support/fields.h"
#include "tests/support/must.h"
#include "tests/support/program.h"
#include "tests/targets/fields.h"

namespace tracectl {
namespace {

using on_kernel::must;
using ::testing::Contains;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;
using ::testing::Not;

// Of the function's first argument.
ReachedFields listed_fields(const std::string& target, const std::string& function,
                            uint32_t levels) {
  const std::string path = on_kernel::target_path(target.c_str());
  const ElfFile file =
      must(ElfFile::open(Fd{::open(path.c_str(), O_RDONLY | O_CLOEXEC)}.get(), path, "/none"));
  FunctionParameters parameters(file, {.paths = {}, .levels = levels});
  return *parameters.of(function_with_name(file, function)).value().at(0).asked_fields;
}

std::vector<std::string> paths_of(const ReachedFields& fields) {
  std::vector<std::string> paths;
  for (const ReachedField& field : fields) paths.push_back(field.path);
  return paths;
}

ReachedField field_of(const ReachedFields& fields, const std::string& path) {
  const auto found = std::ranges::find(fields, path, &ReachedField::path);
  EXPECT_NE(found, fields.end()) << path;
  return found == fields.end() ? ReachedField{} : *found;
}

class FieldLists : public ::testing::TestWithParam<const char*> {};

}  // namespace

TEST(FieldListsOfUnits, HaveFieldsThatAnotherUnitDefines) {
  EXPECT_THAT(paths_of(listed_fields("declared", "see", 2)),
              ::testing::IsSupersetOf({"arg.c->id", "arg.c->inner->depth"}));
}

TEST_P(FieldLists, HaveAllFieldsInTheirOrder) {
  std::vector<std::string> expected;
  for (const char* name :
       {"id",    "delta",  "wide",  "urgent", "grade", "octet", "state", "level", "uri",    "other",
        "inner", "number", "bytes", "list",   "grid",  "label", "ratio", "next",  "hidden", "any"})
    expected.push_back(std::string("arg.request->") + name);
  EXPECT_THAT(paths_of(listed_fields(GetParam(), "handle", 1)), ElementsAreArray(expected));
}

TEST_P(FieldLists, HavePlacesTypesAndReasons) {
  const ReachedFields fields = listed_fields(GetParam(), "handle", 1);
  const ReachedField number = field_of(fields, "arg.request->number");
  EXPECT_EQ(number.offsets, std::vector<uint64_t>{offsetof(request, number)});
  EXPECT_EQ(type_name(number.type), "u16");
  const ReachedField uri = field_of(fields, "arg.request->uri");
  EXPECT_EQ(uri.type.declared_type, "const struct uri");
  EXPECT_THAT(uri.why_not, HasSubstr("name one of its fields"));
  EXPECT_TRUE(field_of(fields, "arg.request->ratio").type.is_float);
  EXPECT_EQ(field_of(fields, "arg.request->id").bit_count, 5);
}

TEST_P(FieldLists, GoAsDeepAsIsAsked) {
  const std::string below = "arg.request->uri.len", further = "arg.request->next->next->uri.len";
  EXPECT_THAT(paths_of(listed_fields(GetParam(), "handle", 1)), Not(Contains(below)));
  const ReachedFields two = listed_fields(GetParam(), "handle", 2);
  EXPECT_EQ(field_of(two, below).offsets, std::vector<uint64_t>{offsetof(request, uri.len)});
  EXPECT_THAT(paths_of(two), Contains("arg.request->next->id"));
  EXPECT_THAT(paths_of(two), Not(Contains(further)));
  EXPECT_THAT(paths_of(listed_fields(GetParam(), "handle", 4)), Contains(further));
  EXPECT_EQ(paths_of(listed_fields(GetParam(), "handle", 9)),
            paths_of(listed_fields(GetParam(), "handle", 4)));
}

INSTANTIATE_TEST_SUITE_P(Compiled, FieldLists,
                         ::testing::Values("fields", "fields_dwarf4", "fields_clang"),
                         [](const auto& one) { return std::string(one.param); });

TEST(CxxFieldLists, HaveTheFieldsOfBasesOnce) {
  for (const char* target : {"fields_cxx", "fields_cxx_clang"}) {
    const auto paths = paths_of(listed_fields(target, "shop::Cart::add", 1));
    EXPECT_THAT(paths, Contains("arg.this->count")) << target;
    EXPECT_EQ(std::ranges::count(paths, "arg.this->hidden"), 1) << target;
    EXPECT_THAT(paths, Not(Contains(HasSubstr("vptr")))) << target;
    EXPECT_THAT(paths_of(listed_fields(target, "shop::take", 1)), Contains("arg.copied.number"));
  }
}

TEST(OddFieldLists, SayTheirLimit) {
  const ReachedFields fields = listed_fields("fields_odd", "wide", 1);
  ASSERT_EQ(fields.size(), kMostListedFields + 1);
  EXPECT_EQ(fields.back().path, "arg.p->h310");
  EXPECT_THAT(fields.back().why_not, HasSubstr("500 fields of an argument are listed"));
  EXPECT_EQ(fields[499].offsets, std::vector<uint64_t>{499 * sizeof(int)});
}

}  // namespace tracectl
