// SPDX-License-Identifier: BSD-2-Clause
//
// Fields of structs that the function's unit only declares. The program is tests/targets/declared.cpp.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/fields.h"

using namespace tracectl;
using ::testing::HasSubstr;

namespace {

using Places = std::vector<uint64_t>;

ReachedField in_declared(const std::string& function, const std::string& path) {
  return field_in("declared", function, path);
}

Places places_in_declared(const std::string& function, const std::string& path) {
  const ReachedField found = in_declared(function, path);
  EXPECT_EQ(found.why_not, "") << path;
  return found.offsets;
}

void expect_no_field(const std::string& function, const std::string& path, const std::string& why) {
  EXPECT_THAT(in_declared(function, path).why_not, HasSubstr(why)) << path;
}

}  // namespace

TEST(DeclaredTypes, HaveTheFieldsThatAnotherUnitDefines) {
  EXPECT_EQ(places_in_declared("see", "arg.c->id"), Places{8});
  EXPECT_EQ(places_in_declared("see", "arg.c->inner->depth"), (Places{16, 0}));
  EXPECT_EQ(places_in_declared("see", "arg.c[2].id"), Places{2 * 32 + 8});
  EXPECT_EQ(places_in_declared("see_hidden", "arg.h->hidden->secret"), (Places{0, 28}));
  EXPECT_EQ(places_in_declared("see_hidden", "arg.h->all->name"), (Places{8, 24}));
}

TEST(DeclaredTypes, AreThoseOfTheirNamespace) {
  EXPECT_EQ(places_in_declared("see_socket", "arg.s->fd"), Places{4});
  EXPECT_EQ(places_in_declared("see_options", "arg.o->level"), Places{24});
}

TEST(DeclaredTypes, AreNamedByCastsToo) {
  EXPECT_EQ(places_in_declared("see_any", "((struct only_here *)arg.p)->number"), Places{10});
  EXPECT_EQ(places_in_declared("see_any", "((net::Socket *)arg.p)->fd"), Places{4});
  EXPECT_EQ(places_in_declared("see_any", "((other::Socket *)arg.p)->fd"), Places{0});
  expect_no_field("see_any", "((struct no_such *)arg.p)->fd",
                  "there is no type \"struct no_such\"");
  expect_no_field("see_any", "((different *)arg.p)->id", "different is not the same in all units");
}

TEST(DeclaredTypes, ThatUnitsDefineDifferentlyHaveNoFields) {
  expect_no_field("see_different", "arg.d->id",
                  "struct different is not the same in all units of the file");
}

TEST(DeclaredTypes, ThatCAndCxxDefineWithABoolAreTheSame) {
  EXPECT_EQ(places_in_declared("see_shared", "arg.s->id"), Places{16});
  EXPECT_EQ(in_declared("see_shared", "arg.s->open").type.size_bytes, 1);
}

TEST(DeclaredTypes, ThatNoUnitDefinesHaveNoFields) {
  expect_no_field("see_nowhere", "arg.n->id", "struct nowhere is defined by none of the units");
}
