// SPDX-License-Identifier: BSD-2-Clause
#include <gtest/gtest.h>

#include <fcntl.h>

#include "client/options/display.h"
#include "client/render/call_names.h"
#include "client/render/probe_names.h"
#include "client/render/rows.h"
#include "daemon/base/fd.h"
#include "daemon/model/pattern.h"
#include "daemon/object/elf_file.h"
#include "daemon/object/pattern_names.h"
#include "daemon/object/probes.h"
#include "tests/support/must.h"

using namespace tracectl;
using tracectl::on_kernel::must;

namespace {

std::string in_prog(const std::string& function) { return "uprobe:/usr/bin/prog:" + function; }

std::vector<std::string> names_of_table(const std::vector<std::string>& probes) {
  const TableNames names({probes.begin(), probes.end()});
  std::vector<std::string> shown;
  for (const std::string& probe : probes) shown.push_back(names.of(probe));
  return shown;
}

// While it exists, functions have their linkage names.
class LinkageNames {
 public:
  LinkageNames() { set_display({.linkage_names = true}); }
  ~LinkageNames() { set_display({}); }
};

using Shown = std::vector<std::string>;

}  // namespace

TEST(TableNames, AreShortWhereNothingElseIsCalledSo) {
  EXPECT_EQ(names_of_table({in_prog("_ZN2ns5parseEi"), in_prog("main"), in_prog("main+8"),
                            "usdt:/usr/lib/libdb.so.1:db:row", in_prog("_RNvC6_123foo3bar")}),
            (Shown{"uprobe:prog:ns::parse", "uprobe:prog:main", "uprobe:prog:main+8",
                   "usdt:libdb.so.1:db:row", "uprobe:prog:123foo::bar"}));
}

TEST(TableNames, HaveTheParametersThatTellThemApart) {
  EXPECT_EQ(names_of_table({in_prog("_ZN2ns5parseEi"), in_prog("_ZN2ns5parseEd"),
                            in_prog("_ZN2ns4CartC1Ei"), in_prog("_ZN2ns4CartC2Ei")}),
            (Shown{"uprobe:prog:ns::parse(int)", "uprobe:prog:ns::parse(double)",
                   "uprobe:prog:_ZN2ns4CartC1Ei", "uprobe:prog:_ZN2ns4CartC2Ei"}));
}

TEST(TableNames, OfLinesHaveTheNamesOfTheirSources) {
  EXPECT_EQ(
      names_of_table(
          {in_prog("_ZN2ns5parseEi@/a/x.c:3"), in_prog("f@/a/y.c:3"), in_prog("f@/b/y.c:3")}),
      (Shown{"uprobe:prog:ns::parse@x.c:3", "uprobe:prog:f@/a/y.c:3", "uprobe:prog:f@/b/y.c:3"}));
  CallNames calls;
  EXPECT_EQ(calls.of(in_prog("_ZN2ns5parseEi@/a/x.c:3:9")), "x.c:3:9 in ns::parse");
}

TEST(TableNames, HaveTheWholePathsOfFilesWithOneName) {
  EXPECT_EQ(names_of_table({"uprobe:/a/prog:main", "uprobe:/b/prog:main", "uprobe:/a/lib.so:main"}),
            (Shown{"uprobe:/a/prog:main", "uprobe:/b/prog:main", "uprobe:lib.so:main"}));
  EXPECT_EQ(names_of_table({"uprobe:/a/p[1]:main", "usdt:/memfd:usdt-rt:rt:go", "no probe"}),
            (Shown{"uprobe:/a/p[1]:main", "usdt:/memfd:usdt-rt:rt:go", "no probe"}));
}

TEST(StreamNames, TheFirstOfANameKeepsIt) {
  StreamNames names;
  EXPECT_EQ(names.of(in_prog("_ZN2ns5parseEi")), in_prog("ns::parse"));
  EXPECT_EQ(names.of(in_prog("_ZN2ns5parseEd")), in_prog("ns::parse(double)"));
  EXPECT_EQ(names.of(in_prog("_ZN2ns5parseEi")), in_prog("ns::parse"));
  EXPECT_EQ(names.demangled(in_prog("_ZN2ns5parseEi")), "ns::parse(int)");
  EXPECT_EQ(names.demangled(in_prog("main")), "");
}

TEST(ProbeNames, AreLinkageNamesIfTheUserWantsThem) {
  const LinkageNames chosen;
  EXPECT_EQ(names_of_table({in_prog("_ZN2ns5parseEi")}), Shown{"uprobe:prog:_ZN2ns5parseEi"});
  EXPECT_EQ(StreamNames().of(in_prog("_ZN2ns5parseEi")), in_prog("_ZN2ns5parseEi"));
  EXPECT_EQ(CallNames().of(in_prog("_ZN2ns5parseEi")), "_ZN2ns5parseEi");
  EXPECT_EQ(readable_name(in_prog("_ZN2ns5parseEi")), in_prog("_ZN2ns5parseEi"));
}

TEST(ProbeNames, HoldNothingThatATerminalObeys) {
  EXPECT_EQ(readable_name(in_prog("a\x1b[2J")), in_prog("a?[2J"));
  EXPECT_EQ(names_of_table({in_prog("a\xc2\x9b")}), Shown{"uprobe:prog:a\xc2?"});
}

// Of this program's own functions, which has operators, lambdas, conversions, templates and constructors.
TEST(ProbeNames, ArePatternsOfTheirFunctions) {
  const Fd self(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
  ElfFile elf = must(ElfFile::open(self.get(), "/proc/self/exe"));
  constexpr size_t kMostOfPattern = 4096;
  size_t compared = 0;
  for (const Function& function : elf.functions()) {
    const auto with_parameters = demangled_function(in_prog(function.name));
    if (!with_parameters) continue;
    ++compared;
    for (const std::string& name :
         {readable_name(in_prog(function.name)), in_prog(*with_parameters)}) {
      if (name.size() > kMostOfPattern) continue;
      const auto pattern = parse_pattern(name);
      ASSERT_TRUE(pattern) << name;
      EXPECT_TRUE(names_function(*pattern, function.name)) << name << " " << function.name;
    }
  }
  EXPECT_GT(compared, 10000u);
}
