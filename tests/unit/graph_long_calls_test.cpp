// SPDX-License-Identifier: BSD-2-Clause
//
// Graphs of calls that took long enough.
#include <gtest/gtest.h>

#include "tests/support/graph_text.h"

using namespace tracectl;

namespace {

class GraphOfLongCalls : public Graph {
 protected:
  GraphOfLongCalls() : Graph({.min_duration_ns = 10'000}) {}
};

}  // namespace

TEST_F(GraphOfLongCalls, LeavesTheOthersOut) {
  add(begin_of("short", {1, 0}, 0));
  add(note_of("a:b", 1));
  add(end_of("short", {1, 0}, 9'999, 9'999));
  add(begin_of("f", {2, 0}, 10'000));
  add(begin_of("short", {3, 1}, 10'001));
  add(end_of("short", {3, 1}, 10'002, 1));
  add(begin_of("long", {4, 1}, 10'003));
  add(end_of("long", {4, 1}, 20'003, 10'000));
  add(end_of("f", {2, 0}, 30'000, 20'000));
  add(begin_of("g", {5, 0}, 30'000));
  add(begin_of("short", {6, 1}, 30'001));
  add(end_of("short", {6, 1}, 30'002, 1));
  add(end_of("g", {5, 0}, 50'000, 20'000));
  EXPECT_EQ(finished(),
            "  1) 4711                     |  f() {\n"
            "  1) 4711           10.000 us |    long();\n"
            "  1) 4711         + 20.000 us |  }\n"
            "  1) 4711         + 20.000 us |  g();\n");
}

TEST_F(GraphOfLongCalls, KeepsWhatFiredWithinThose) {
  add(begin_of("f", {1, 0}, 0));
  add(note_of("a:b", 1));
  add(begin_of("deep", {0, 1}, 2));
  add(end_of("f", {1, 0}, 10'000, 10'000));
  EXPECT_EQ(text(),
            "  1) 4711                     |  f() {\n"
            "  1) 4711                     |    /* a:b() */\n"
            "  1) 4711                     |    deep(); /* cut: deeper than is followed */\n"
            "  1) 4711           10.000 us |  }\n");
}

TEST_F(GraphOfLongCalls, ShowsAnOpenOneOnceItIsKnownToBe) {
  add(begin_of("f", {1, 0}, 0));
  add(begin_of("g", {2, 1}, 195 * kMs));
  show_held(200 * kMs);
  EXPECT_EQ(text(), "  1) 4711                     |  f() {\n");
  add(begin_of("short", {3, 2}, 200 * kMs));
  EXPECT_EQ(finished(),
            "  1) 4711                     |    g(); /* still open */\n"
            "  1) 4711                     |  } /* f is still open */\n");
}
