// SPDX-License-Identifier: BSD-2-Clause
//
// Places of lines in programs of tests/targets (lines.c, lines.h, lines_unit.h). tests/e2e/lines_test.py compares them with
// those of readelf, and with what the programs count.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include "daemon/base/fd.h"
#include "daemon/object/line_finder.h"
#include "daemon/object/line_program.h"
#include "daemon/object/probes.h"
#include "tests/support/must.h"
#include "tests/support/program.h"

using namespace tracectl;
using on_kernel::must;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

namespace {

constexpr const char* kSource = "tests/targets/lines.c";

// The number of the first line of a source file that has this text.
uint32_t line_with(const std::string& text, const char* source = kSource) {
  std::ifstream file(source);
  std::string line;
  for (uint32_t number = 1; std::getline(file, line); ++number)
    if (line.find(text) != line.npos) return number;
  ADD_FAILURE() << source << " has no " << text;
  return 0;
}

ProbeMatch lines_of(const char* program, const std::string& pattern,
                    std::optional<Returns> returns = {}) {
  const std::string path = on_kernel::target_path(program);
  const Fd file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  const auto object = must(ObjectFile::open(file.get(), path));
  return must(find_probes(object, must(parse_pattern(pattern)), returns));
}

ProbeMatch at_line(const char* program, const char* file, uint32_t line) {
  return lines_of(program, std::string("u:@") + file + ":" + std::to_string(line));
}

// The functions that have the places of a match.
std::multiset<std::string> functions_with(const ProbeMatch& match) {
  std::multiset<std::string> names;
  for (const Probe& probe : match.probes)
    for (size_t i = 0; i < probe.sites.size(); ++i)
      names.insert(must(parse_pattern(probe.name)).function);
  return names;
}

const uint32_t kInHeader = line_with("product *= n", "tests/targets/lines.h");

}  // namespace

TEST(Lines, HaveOnePlaceWithoutOptimisation) {
  for (const char* text : {"// FIRST", "// OF A MACRO", "// IN A LOOP"}) {
    const ProbeMatch match = at_line("lines", "lines.c", line_with(text));
    ASSERT_THAT(match.probes, SizeIs(1)) << text;
    EXPECT_THAT(match.probes[0].sites, SizeIs(1)) << text;
    EXPECT_THAT(match.refused, IsEmpty());
  }
}

// Each unit has its own square().
TEST(Lines, OfAHeaderHaveAPlaceInEachUnit) {
  EXPECT_THAT(functions_with(at_line("lines", "lines.h", kInHeader)),
              ElementsAre("square", "square"));
}

TEST(Lines, HavePlacesInAllCopiesOfInlinedFunctions) {
  for (const char* program : {"lines_o2", "lines_dwarf4"}) {
    // square(n), and twice in BOTH.
    const auto functions = functions_with(at_line(program, "lines.h", kInHeader));
    EXPECT_EQ(functions.count("branches"), 3u) << program;
    EXPECT_EQ(functions.count("other_unit"), 1u) << program;
    EXPECT_THAT(functions, SizeIs(4)) << program;
    EXPECT_THAT(functions_with(at_line(program, "lines.c", line_with("// IN A LOOP"))),
                ElementsAre("main"));
  }
}

TEST(Lines, AreNamedByFunctionFileAndLine) {
  const uint32_t line = line_with("// FIRST");
  const ProbeMatch match = at_line("lines", "targets/lines.c", line);
  ASSERT_THAT(match.probes, SizeIs(1));
  const std::string& name = match.probes[0].name;
  EXPECT_TRUE(name.starts_with("uprobe:" + on_kernel::target_path("lines") + ":branches@")) << name;
  EXPECT_TRUE(name.ends_with("/tests/targets/lines.c:" + std::to_string(line))) << name;
  const ProbeMatch again = lines_of("lines", name);
  ASSERT_THAT(again.probes, SizeIs(1));
  EXPECT_EQ(again.probes[0].name, name);
}

TEST(Lines, CanBeOfOneFunction) {
  const std::string at = "@lines.h:" + std::to_string(kInHeader);
  EXPECT_THAT(functions_with(lines_of("lines_o2", "u::other_*" + at)), ElementsAre("other_unit"));
  EXPECT_THAT(lines_of("lines_o2", "u::main" + at).why_none, HasSubstr("other names"));
}

TEST(Lines, CanBeAllOfAFile) {
  std::set<uint32_t> lines;
  for (const Probe& probe : lines_of("lines", "u:@lines_unit.h:*").probes)
    lines.insert(must(parse_pattern(probe.name)).line);
  EXPECT_THAT(lines, SizeIs(7));
  EXPECT_TRUE(lines.contains(line_with("sum += square(n)", "tests/targets/lines_unit.h")));
}

TEST(Lines, ThatWereRemovedAreRefusedWithTheNearest) {
  const uint32_t removed = line_with("// REMOVED");
  const std::string why = at_line("lines_o2", "lines.c", removed).why_none;
  EXPECT_THAT(why, HasSubstr("lines.c has no code at line " + std::to_string(removed) +
                             ": the nearest lines that have are "));
  EXPECT_THAT(why, HasSubstr(" and " + std::to_string(line_with("switch (n % 4)"))));
  EXPECT_THAT(at_line("lines", "lines.c", 100'000).why_none,
              HasSubstr("the nearest line that has is"));
  EXPECT_THAT(at_line("lines", "lnes.c", 1).why_none, HasSubstr("did you mean \"lines.c\""));
  EXPECT_THAT(at_line("returned_plain", "returned.c", 1).why_none, HasSubstr("compile it with -g"));
}

TEST(Lines, HaveColumns) {
  const uint32_t line = line_with("for (long i = 0; i < n");
  const std::string at = "u:@lines.c:" + std::to_string(line);
  // Before the loop, and after each round.
  EXPECT_THAT(functions_with(lines_of("lines", at)), ElementsAre("loops", "loops"));
  EXPECT_THAT(functions_with(lines_of("lines", at + ":13")), ElementsAre("loops"));
  EXPECT_THAT(lines_of("lines", at + ":999").why_none,
              HasSubstr("has no code at column 999, but at"));
}

TEST(Lines, HaveNoReturns) {
  const std::string path = on_kernel::target_path("lines");
  const Fd file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  const auto object = must(ObjectFile::open(file.get(), path));
  const auto match = find_probes(object, must(parse_pattern("u:@lines.c:*")), Returns::automatic);
  ASSERT_FALSE(match);
  EXPECT_THAT(match.error().message, HasSubstr("is no function, but a line: it has no return"));
}

// ---- tables made by hand ----

namespace {

std::string bytes_of(std::initializer_list<int> values) {
  std::string bytes;
  for (const int value : values) bytes += static_cast<char>(value);
  return bytes;
}

std::string as_word(size_t value) {
  std::string bytes;
  for (int i = 0; i < 4; ++i) bytes += static_cast<char>(value >> (8 * i));
  return bytes;
}

// Version 3, with a file inc/a.c; special opcodes from 13 on: line_base -5, line_range 14.
std::string made_table(const std::string& program) {
  using namespace std::string_literals;
  const std::string header =
      bytes_of({1, 1, 0xfb, 14, 13, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1}) + "inc\0\0a.c\0\1\0\0\0"s;
  const std::string unit = bytes_of({3, 0}) + as_word(header.size()) + header + program;
  return as_word(unit.size()) + unit;
}

std::vector<LineRow> rows_of(const std::string& section) {
  std::vector<LineRow> rows;
  const auto table = LineTable::read({section, {}, {}}, 0, "/home/./me/../you");
  EXPECT_TRUE(table.has_value());
  if (!table) return rows;
  EXPECT_THAT(table->files(), ElementsAre("", "/home/you/inc/a.c"));
  table->each_row([&](const LineRow& row) { return rows.push_back(row), true; });
  return rows;
}

const std::string kAt1000 = bytes_of({0, 9, 2, 0, 0x10, 0, 0, 0, 0, 0, 0});

}  // namespace

TEST(LineTable, HasTheRowsOfItsProgram) {
  const std::string program =
      kAt1000 + bytes_of({3,
                          9,
                          1,  // line 10, a row
                          5,
                          3,
                          6,                    // column 3, no statement
                          13 + 5 + 1 + 2 * 14,  // 2 bytes and a line further
                          8,
                          1,  // (255 - 13) / 14 = 17 bytes further
                          9,
                          0,
                          1,
                          6,
                          3,
                          0x7b,
                          1,  // 256 bytes further, a statement, 5 lines back
                          2,
                          4,
                          0,
                          1,
                          1});
  EXPECT_THAT(
      rows_of(made_table(program)),
      ElementsAre(LineRow{0x1000, 1, 10, 0, true, false}, LineRow{0x1002, 1, 11, 3, false, false},
                  LineRow{0x1013, 1, 11, 3, false, false}, LineRow{0x1113, 1, 6, 3, true, false},
                  LineRow{0x1117, 1, 6, 3, true, true}));
}

TEST(LineTable, EndsWhereItIsDamaged) {
  EXPECT_THAT(rows_of(made_table(kAt1000 + bytes_of({1, 2}))), SizeIs(1));
  const std::string whole = made_table(kAt1000 + bytes_of({1}));
  for (size_t size = 0; size < whole.size(); ++size)
    EXPECT_FALSE(LineTable::read({std::string_view(whole).substr(0, size), {}, {}}, 0, "/"));
  EXPECT_FALSE(LineTable::read({whole, {}, {}}, whole.size(), "/"));
}
