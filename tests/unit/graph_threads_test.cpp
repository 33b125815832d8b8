// SPDX-License-Identifier: BSD-2-Clause
//
// Graphs of several threads, and how long their lines are held.
#include <gtest/gtest.h>

#include "tests/support/graph_text.h"

using namespace tracectl;

TEST_F(Graph, TreesOfThreadsThatRunAtOnceStayWhole) {
  add(in_thread(7, begin_of("a", {1, 0}, 0)));
  add(in_thread(8, begin_of("b", {1, 0}, 1)));
  add(in_thread(7, begin_of("c", {2, 1}, 2)));
  add(in_thread(8, end_of("b", {1, 0}, 3, 2)));
  add(in_thread(7, end_of("c", {2, 1}, 4, 2)));
  add(in_thread(7, end_of("a", {1, 0}, 5, 5)));
  EXPECT_EQ(text(),
            "  1) 8               0.002 us |  b();\n"
            "  1) 7                        |  a() {\n"
            "  1) 7               0.002 us |    c();\n"
            "  1) 7               0.005 us |  }\n");
}

TEST_F(Graph, WhereAThreadComesBetweenASeparatorSaysSoAndTheBraceNamesItsCall) {
  add(in_thread(7, begin_of("a", {1, 0}, 0)));
  add(in_thread(7, begin_of("c", {2, 1}, 0)));
  show_held(200 * kMs);
  add(in_thread(8, begin_of("b", {1, 0}, 201 * kMs)));
  add(in_thread(8, end_of("b", {1, 0}, 202 * kMs, 1 * kMs)));
  add(in_thread(7, end_of("c", {2, 1}, 203 * kMs, 203 * kMs)));
  add(in_thread(7, end_of("a", {1, 0}, 203 * kMs, 203 * kMs)));
  EXPECT_EQ(text(),
            "  1) 7                        |  a() {\n"
            "  1) 7                        |    c() {\n"
            " ------------------------------------------\n"
            " 7 => 8\n"
            " ------------------------------------------\n"
            "\n"
            "  1) 8          ! 1000.000 us |  b();\n"
            " ------------------------------------------\n"
            " 8 => 7\n"
            " ------------------------------------------\n"
            "\n"
            "  1) 7        ! 203000.000 us |    } /* c */\n"
            "  1) 7        ! 203000.000 us |  } /* a */\n");
}

TEST_F(Graph, AnotherProcessIsNamed) {
  add(of_process(7, "mail", begin_of("a", {1, 0}, 0)));
  add(of_process(7, "mail", end_of("a", {1, 0}, 1, 1)));
  add(of_process(8, "web", begin_of("b", {1, 0}, 2)));
  add(of_process(8, "web", end_of("b", {1, 0}, 3, 1)));
  EXPECT_EQ(text(),
            "  1) 7               0.001 us |  a();\n"
            " ------------------------------------------\n"
            " mail-7 => web-8\n"
            " ------------------------------------------\n"
            "\n"
            "  1) 8               0.001 us |  b();\n");
}

TEST_F(Graph, OfVeryManyThreadsIsGivenUpWhereItWasQuietLongest) {
  constexpr auto kMost = static_cast<pid_t>(OpenCalls::kMostThreads);
  add(in_thread(1, begin_of("f", {1, 0}, 0)));
  add(in_thread(1, begin_of("g", {2, 1}, 0)));
  for (pid_t tid = 2; tid <= kMost; ++tid) add(in_thread(tid, begin_of("f", {1, 0}, 0)));
  EXPECT_EQ(text(), "");
  add(in_thread(kMost + 1, begin_of("f", {1, 0}, 0)));
  EXPECT_EQ(
      text(),
      "  1) 1                        |  f() {\n"
      "  1) 1                        |    g(); /* given up: too many threads have open calls */\n"
      "  1) 1                        |  } /* f: given up: too many threads have open calls */\n");
  add(in_thread(1, end_of("g", {2, 1}, 9, 9)));
  add(in_thread(1, end_of("f", {1, 0}, 9, 9)));
  EXPECT_EQ(
      text(),
      "  1) 2                        |  f(); /* given up: too many threads have open calls */\n"
      "  1) 1                        |  ? { /* its beginning was lost */\n"
      "  1) 1               0.009 us |    g(); /* its beginning was lost */\n"
      "  1) 1               0.009 us |  } /* f: its beginning was lost */\n");
}

TEST_F(Graph, IsHeldUntilTheOutermostCallEndsButNotForLong) {
  add(begin_of("f", {1, 0}, 10));
  add(begin_of("g", {2, 1}, 20));
  show_held(200 * kMs + 9);
  EXPECT_EQ(text(), "");
  show_held(200 * kMs + 10);
  EXPECT_EQ(text(), "  1) 4711                     |  f() {\n");
  show_held(200 * kMs + 20);
  EXPECT_EQ(text(), "  1) 4711                     |    g() {\n");
  add(end_of("g", {2, 1}, 300 * kMs, 300 * kMs));
  EXPECT_EQ(text(), "");
  show_held(500 * kMs);
  EXPECT_EQ(text(), "  1) 4711     ! 300000.000 us |    }\n");
  add(end_of("f", {1, 0}, 501 * kMs, 501 * kMs));
  EXPECT_EQ(text(), "  1) 4711     ! 501000.000 us |  }\n");
}

TEST_F(Graph, IsNotHeldWhereItIsLong) {
  add(begin_of("f", {1, 0}, 0));
  for (uint32_t number = 2; out_.empty() && number < 10'000; ++number) {
    add(begin_of("g", {number, 1}, 0));
    add(end_of("g", {number, 1}, 1, 1));
  }
  EXPECT_NE(out_, "");
}
