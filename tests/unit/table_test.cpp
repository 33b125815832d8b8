// SPDX-License-Identifier: BSD-2-Clause
#include <gtest/gtest.h>

#include "client/options/display.h"
#include "client/render/shortened.h"
#include "client/render/table.h"

using namespace tracectl;

namespace {

// While it exists, the output is a terminal of this width.
class Terminal {
 public:
  explicit Terminal(size_t columns) { set_display({.columns = columns}); }
  ~Terminal() { set_display({}); }
};

std::string table_of(const std::string& name) {
  Table table({{"PROBE", Table::Align::left, true}, {"N", Table::Align::right}, {"MORE"}});
  table.add({"f", "1", "x"});
  table.add({name, "22", "y"});
  return table.text();
}

}  // namespace

TEST(Shortened, LeavesOutArgumentsOfTemplatesFirst) {
  const std::string name = "std::map<int, std::pair<long, long> >::find<char>(int)";
  EXPECT_EQ(shortened(name, 60), name);
  EXPECT_EQ(shortened(name, 40), "std::map<\u2026>::find<char>(int)");
  EXPECT_EQ(shortened(name, 25), "std::map<\u2026>::find<\u2026>(int)");
  EXPECT_EQ(shortened(name, 11), "std::\u2026(int)");
  EXPECT_EQ(shortened("operator<<(std::ostream&, X<int, 1>)", 34),
            "operator<<(std::ostream&, X<\u2026>)");
  EXPECT_EQ(shortened("f<(a)->b>(long_name)", 17), "f<\u2026>(long_name)");
  EXPECT_EQ(shortened("a<bcdefghijk", 7), "a<b\u2026ijk");
}

TEST(Shortened, CountsCharactersAndSplitsNone) {
  EXPECT_EQ(width_of("\u00e9\u2026a"), 3u);
  EXPECT_EQ(shortened("\u00e9\u00e9\u00e9\u00e9", 4), "\u00e9\u00e9\u00e9\u00e9");
  EXPECT_EQ(shortened("\u00e9\u00e9\u00e9\u00e9\u00e9", 4), "\u00e9\u00e9\u2026\u00e9");
}

TEST(Table, PadsForUsualNamesAndCutsNothing) {
  EXPECT_EQ(table_of("long"), "PROBE   N  MORE\nf       1  x\nlong   22  y\n");
  const std::string longest(500, 'z');
  EXPECT_EQ(table_of(longest), "PROBE" + std::string(78, ' ') + "N  MORE\n" + "f" +
                                   std::string(82, ' ') + "1  x\n" + longest + "  22  y\n");
}

TEST(Table, FitsTheTerminal) {
  const Terminal terminal(30);
  EXPECT_EQ(table_of("long"), "PROBE   N  MORE\nf       1  x\nlong   22  y\n");
  EXPECT_EQ(table_of(std::string(20, 'a') + std::string(20, 'b')),
            "PROBE                  N  MORE\n"
            "f                      1  x\n" +
                std::string(10, 'a') + "\u2026" + std::string(9, 'b') + "  22  y\n");
}
