// SPDX-License-Identifier: BSD-2-Clause
//
// Copies of inlined functions in programs of tests/targets (inlined.c, inlined_cxx.cpp). tests/e2e/inlined_test.py compares
// them with gdb's, and their hits with what the programs count.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "daemon/base/fd.h"
#include "daemon/object/inlined_copies.h"
#include "daemon/object/pattern_names.h"
#include "daemon/object/probes.h"
#include "tests/support/must.h"
#include "tests/support/program.h"

using namespace tracectl;
using on_kernel::must;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

namespace {

const std::vector<const char*> kPrograms = {"inlined", "inlined_dwarf4", "inlined_clang"};

ProbeMatch copies_of(const char* program, const std::string& pattern, Scope scope = Scope::inlined,
                     std::optional<Returns> returns = {}, const FieldsAsked& fields = {}) {
  const std::string path = on_kernel::target_path(program);
  const Fd file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  const auto object = must(ObjectFile::open(file.get(), path));
  return must(
      find_probes(object, must(parse_pattern(pattern, scope)), returns, nullptr, {}, fields));
}

// Sites by the function that has them; "" is the function itself.
std::map<std::string, size_t> hosts_of(const ProbeMatch& match) {
  std::map<std::string, size_t> hosts;
  for (const Probe& probe : match.probes)
    hosts[must(parse_pattern(probe.name)).host] += probe.sites.size();
  return hosts;
}

using Hosts = std::map<std::string, size_t>;

}  // namespace

TEST(Inlined, HaveASiteInEachFunctionThatHasACopy) {
  for (const char* program : {"inlined", "inlined_dwarf4"})
    EXPECT_EQ(hosts_of(copies_of(program, "u::add")),
              (Hosts{{"first_host", 2}, {"second_host", 4}}))
        << program;
  for (const char* program : kPrograms) {
    EXPECT_EQ(hosts_of(copies_of(program, "u::both_ways")), (Hosts{{"", 1}, {"main", 1}}))
        << program;
    EXPECT_EQ(hosts_of(copies_of(program, "u::rare")), (Hosts{{"third_host", 1}})) << program;
  }
}

TEST(Inlined, AreLeftOutUnlessAskedFor) {
  EXPECT_EQ(hosts_of(copies_of("inlined", "u::both_ways", Scope::local)), (Hosts{{"", 1}}));
  EXPECT_THAT(copies_of("inlined", "u::add", Scope::local).why_none, HasSubstr("--inlined"));
}

TEST(Inlined, AreNamedByWhatIsAPatternAgain) {
  for (const char* program : {"inlined", "inlined_cxx"})
    for (const Probe& probe : copies_of(program, "u::*").probes) {
      const Pattern name = must(parse_pattern(probe.name));
      if (name.kind != ProbeKind::inlined) continue;
      const ProbeMatch again = copies_of(program, probe.name, Scope::local);
      ASSERT_THAT(again.probes, SizeIs(1)) << probe.name;
      EXPECT_EQ(again.probes[0].name, probe.name);
      EXPECT_THAT(again.probes[0].sites, SizeIs(probe.sites.size()));
      EXPECT_TRUE(names_probe(name, probe.name));
    }
}

TEST(Inlined, CanBeOfOneHostOrCall) {
  EXPECT_EQ(hosts_of(copies_of("inlined", "u::add in second*", Scope::local)),
            (Hosts{{"second_host", 4}}));
  EXPECT_EQ(hosts_of(copies_of("inlined", "u::add in *@inlined.c:*", Scope::local)),
            (Hosts{{"first_host", 2}}));
  EXPECT_THAT(copies_of("inlined", "u::add in main", Scope::local).why_none,
              HasSubstr("other names"));
  EXPECT_THAT(copies_of("inlined", "u::main in *", Scope::local).why_none,
              HasSubstr("no function of that name was inlined"));
  EXPECT_THAT(copies_of("returned_plain", "u::a in *", Scope::local).why_none,
              HasSubstr("compile it with -g"));
}

TEST(Inlined, OfClassesAndNamespacesHaveTheirNames) {
  for (const char* program : {"inlined_cxx", "inlined_cxx_clang"})
    for (const char* function :
         {"shapes::Counter::step", "shapes::hidden", "*shapes::generic<long>*"})
      EXPECT_THAT(hosts_of(copies_of(program, std::string("u::") + function)), SizeIs(1))
          << program << function;
}

TEST(Inlined, WhoseLoopLeadsToTheirBeginningAreRefused) {
  const ProbeMatch match = copies_of("inlined", "u::looped");
  EXPECT_THAT(match.probes, IsEmpty());
  ASSERT_THAT(match.refused, SizeIs(1));
  EXPECT_THAT(match.refused[0].reason, HasSubstr("leads back"));
}

// clang unrolls the loop, and describes what it makes of add() in it as one copy.
TEST(Inlined, ThatAreRepeatedAreRefused) {
  const ProbeMatch match = copies_of("inlined_clang", "u::add in first_host");
  ASSERT_THAT(match.refused, SizeIs(1));
  EXPECT_THAT(match.refused[0].reason, HasSubstr("begins in several pieces of it"));
  EXPECT_EQ(hosts_of(match), (Hosts{{"first_host", 1}}));
}

TEST(Inlined, WithoutCodeAreSaid) {
  EXPECT_THAT(copies_of("inlined", "u::removed").why_none, HasSubstr("has removed the code"));
}

TEST(Inlined, HaveNoReturns) {
  const ProbeMatch match = copies_of("inlined", "u::both_ways", Scope::inlined, Returns::automatic);
  EXPECT_EQ(hosts_of(match), (Hosts{{"", 1}}));
  EXPECT_THAT(match.notes, Contains(HasSubstr("copies of inlined functions are left out")));
}

TEST(Inlined, HaveTheirParameters) {
  for (const char* program : kPrograms) {
    size_t constants = 0;
    for (const Probe& probe : copies_of(program, "u::given").probes)
      for (const Site& site : probe.sites) {
        ASSERT_THAT(*site.args, SizeIs(2)) << program;
        const Argument& more = (*site.args)[1];
        EXPECT_EQ(more.name, "more");
        constants +=
            more.place == Argument::Place::constant && (more.offset == 3 || more.offset == 5);
      }
    EXPECT_EQ(constants, 2u) << program;
  }
}
