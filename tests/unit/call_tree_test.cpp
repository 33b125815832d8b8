// SPDX-License-Identifier: BSD-2-Clause
#include <gtest/gtest.h>

#include <sstream>

#include "client/render/call_tree.h"
#include "tests/support/call_events.h"
#include "tests/support/random_calls.h"

using namespace tracectl;

namespace {

class Calls : public testing::Test {
 protected:
  void add(const Event& event) { tree_.add(event); }
  // main (100 ns) calls query (60), which calls parse (10) and, twice, fetch (20, 5).
  void add_queries() {
    add(begin_of("main", {1, 0}, 0));
    add(begin_of("query", {2, 1}, 10));
    add(begin_of("parse", {3, 2}, 10));
    add(end_of("parse", {3, 2}, 20, 10));
    add(begin_of("fetch", {4, 2}, 20));
    add(end_of("fetch", {4, 2}, 40, 20));
    add(begin_of("fetch", {5, 2}, 40));
    add(unwound_of("fetch", {5, 2}, 45, 5));
    add(end_of("query", {2, 1}, 70, 60));
    add(end_of("main", {1, 0}, 100, 100));
  }

  CallTree tree_;
};

void add_call(CallTree& tree, const std::string& function, uint64_t duration_ns) {
  tree.add(begin_of(function, {1, 0}, 0));
  tree.add(end_of(function, {1, 0}, duration_ns, duration_ns));
}

}  // namespace

TEST_F(Calls, ByFunctionHaveTheTimeThatIsTheirsFirst) {
  add_queries();
  EXPECT_EQ(tree_.function_table(),
            "FUNCTION  CALLS   TOTAL   SELF     MIN     AVG     MAX\n"
            "main          1  100 ns  40 ns  100 ns  100 ns  100 ns\n"
            "fetch         2   25 ns  25 ns    5 ns   13 ns   20 ns  1 unwound\n"
            "query         1   60 ns  25 ns   60 ns   60 ns   60 ns\n"
            "parse         1   10 ns  10 ns   10 ns   10 ns   10 ns\n");
}

TEST_F(Calls, AsATreeHaveTheirShareOfTheWhole) {
  add_queries();
  EXPECT_EQ(tree_.tree_text(),
            " TOTAL   SELF  CALLS    SHARE  FUNCTION\n"
            "100 ns  40 ns      1  100.0 %  main\n"
            " 60 ns  25 ns      1   60.0 %    query\n"
            " 25 ns  25 ns      2   25.0 %      fetch  (1 unwound)\n"
            " 10 ns  10 ns      1   10.0 %      parse\n");
}

TEST_F(Calls, FoldedHaveTheirOwnTimeBehindTheirWay) {
  add_queries();
  add_call(tree_, "odd;name", 3);
  EXPECT_EQ(tree_.folded_text(),
            "main 40\n"
            "main;query 25\n"
            "main;query;fetch 25\n"
            "main;query;parse 10\n"
            "odd:name 3\n");
}

TEST_F(Calls, WithinOthersOfTheirFunctionAreNoPartOfItsTotal) {
  add(begin_of("walk", {1, 0}, 0));
  add(begin_of("visit", {2, 1}, 10));
  add(begin_of("walk", {3, 2}, 20));
  add(end_of("walk", {3, 2}, 50, 30));
  add(end_of("visit", {2, 1}, 60, 50));
  add(end_of("walk", {1, 0}, 100, 100));
  add(begin_of("walk", {4, 0}, 200));
  add(end_of("walk", {4, 0}, 300, 100));
  EXPECT_EQ(tree_.function_table(),
            "FUNCTION  CALLS   TOTAL    SELF    MIN    AVG     MAX\n"
            "walk          3  200 ns  180 ns  30 ns  77 ns  100 ns\n"
            "visit         1   50 ns   20 ns  50 ns  50 ns   50 ns\n");
}

TEST_F(Calls, WithoutASeenEndAreCountedButHaveNoTime) {
  add(begin_of("serve", {1, 0}, 0));
  add(begin_of("gone", {2, 1}, 10));
  add(begin_of("step", {3, 2}, 20));
  add(end_of("step", {3, 2}, 50, 30));
  add(begin_of("deep", {0, 2}, 60));
  add(begin_of("next", {4, 1}, 70));
  add(end_of("next", {4, 1}, 80, 10));
  EXPECT_EQ(tree_.tree_text(),
            "TOTAL   SELF  CALLS   SHARE  FUNCTION\n"
            "    -      -      1   0.0 %  serve  (1 without end)\n"
            "    -      -      1   0.0 %    gone  (1 without end)\n"
            "30 ns  30 ns      1  75.0 %      step\n"
            "    -      -      1   0.0 %      deep  (1 without end)\n"
            "10 ns  10 ns      1  25.0 %    next\n");
  add(end_of("serve", {1, 0}, 100, 100));
  EXPECT_EQ(tree_.folded_text(), "serve 60\nserve;gone;step 30\nserve;next 10\n");
}

TEST_F(Calls, WithoutASeenBeginningAreKnownByTheirEnd) {
  add(begin_of("main", {1, 0}, 0));
  add(begin_of("leaf", {3, 2}, 20));
  add(end_of("leaf", {3, 2}, 30, 10));
  add(end_of("query", {2, 1}, 60, 50));
  add(end_of("other", {4, 1}, 70, 5));
  add(end_of("main", {1, 0}, 100, 100));
  EXPECT_EQ(tree_.folded_text(),
            "main 45\n"
            "main;[unknown];leaf 10\n"
            "main;other 5\n"
            "main;query 40\n");
}

TEST_F(Calls, ThatGoOnBehindTheirCallerAreNoPartOfWhatIsAroundThemThen) {
  add(begin_of("main", {1, 0}, 0));
  add(begin_of("resume", {2, 1}, 10));
  add(begin_of("body", {3, 2}, 20));
  add(end_of("resume", {2, 2}, 30, 20));
  add(end_of("body", {3, 1}, 90, 70));
  add(end_of("main", {1, 0}, 100, 100));
  EXPECT_EQ(tree_.folded_text(), "main 80\nmain;resume 20\nmain;resume;body 70\n");
}

TEST_F(Calls, ComparedShowWhatBecameSlower) {
  CallTree before;
  add_call(before, "same", 10);
  add_call(before, "slower", 10);
  add_call(before, "faster", 5000);
  add_call(before, "gone", 7);
  add_call(tree_, "same", 10);
  add_call(tree_, "slower", 30);
  add_call(tree_, "slower", 20);
  add_call(tree_, "faster", 2000);
  add_call(tree_, "new", 8);
  EXPECT_EQ(tree_.comparison_text(before),
            "FUNCTION  CALLS BEFORE  AFTER  AVG BEFORE    AFTER    CHANGE  SELF BEFORE    AFTER    "
            "CHANGE\n"
            "slower               1      2       10 ns    25 ns    +15 ns        10 ns    50 ns    "
            "+40 ns\n"
            "new                  -      1           -     8 ns         -            -     8 ns    "
            " +8 ns\n"
            "same                 1      1       10 ns    10 ns     +0 ns        10 ns    10 ns    "
            " +0 ns\n"
            "gone                 1      -        7 ns        -         -         7 ns        -    "
            " -7 ns\n"
            "faster               1      1     5.00 us  2.00 us  -3.00 us      5.00 us  2.00 us  "
            "-3.00 us\n"
            "new: new\n"
            "gone: gone\n");
}

namespace {

uint64_t own_time(const CallTree& tree) {
  uint64_t sum_ns = 0;
  std::istringstream lines(tree.folded_text());
  for (std::string line; std::getline(lines, line);)
    sum_ns += std::stoull(line.substr(line.rfind(' ')));
  return sum_ns;
}

}  // namespace

TEST(CallTree, TimesOfTheirOwnAreTogetherWhatTheOutermostCallsTook) {
  for (unsigned seed = 0; seed < 100; ++seed) {
    RandomCalls program(seed, false);
    CallTree tree;
    uint64_t outermost_ns = 0;
    const auto add = [&](const Event& event) {
      tree.add(event);
      if (event.duration_ns && !event.call->depth) outermost_ns += *event.duration_ns;
    };
    for (int i = 0; i < 400; ++i) add(program.next());
    for (const Event& event : program.rest()) add(event);
    ASSERT_EQ(own_time(tree), outermost_ns) << seed;
  }
}
