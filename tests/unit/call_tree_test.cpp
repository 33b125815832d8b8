// SPDX-License-Identifier: BSD-2-Clause
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "client/render/call_sums.h"
#include "client/render/call_tree_text.h"
#include "tests/support/call_trees.h"
#include "tests/support/random_calls.h"

using namespace tracectl;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

namespace {

class Calls : public testing::Test {
 protected:
  void add(const Event& event) { tree_.add(event); }
  CallTree tree_;
};

}  // namespace

TEST_F(Calls, ByFunctionHaveTheTimeThatIsTheirsFirst) {
  add_queries(tree_);
  EXPECT_EQ(
      function_table(tree_),
      "FUNCTION  CALLS   TOTAL   SELF     AVG     MIN       P50       P90       P99     MAX\n"
      "main          1  100 ns  40 ns  100 ns  100 ns  <=100 ns  <=100 ns  <=100 ns  100 ns\n"
      "fetch         2   25 ns  25 ns   13 ns    5 ns    <=7 ns   <=20 ns   <=20 ns   20 ns  1 "
      "unwound\n"
      "query         1   60 ns  25 ns   60 ns   60 ns   <=60 ns   <=60 ns   <=60 ns   60 ns\n"
      "parse         1   10 ns  10 ns   10 ns   10 ns   <=10 ns   <=10 ns   <=10 ns   10 ns\n");
}

TEST_F(Calls, ByFunctionHaveThePartsThatAreKnown) {
  Event ended = end_of("main", {1, 0}, 100, 100);
  ended.off_cpu = OffCpu{.runnable_ns = 10, .blocked_ns = 60};
  add(begin_of("main", {1, 0}, 0));
  add(ended);
  add_call(tree_, "main", 3);
  add_call(tree_, "query", 2);
  EXPECT_EQ(
      function_table(tree_),
      "FUNCTION  CALLS   TOTAL    SELF    AVG   MIN     P50       P90       P99     MAX  RUNNING  "
      "RUNNABLE  BLOCKED\n"
      "main          2  103 ns  103 ns  52 ns  3 ns  <=3 ns  <=100 ns  <=100 ns  100 ns    30 ns   "
      "  "
      "10 ns    60 ns  1 not split\n"
      "query         1    2 ns    2 ns   2 ns  2 ns  <=2 ns    <=2 ns    <=2 ns    2 ns        ?   "
      "      "
      "?        ?\n");
}

TEST_F(Calls, AsATreeHaveTheirShareOfTheWhole) {
  add_queries(tree_);
  EXPECT_EQ(tree_text(tree_),
            " TOTAL   SELF  CALLS    SHARE  FUNCTION\n"
            "100 ns  40 ns      1  100.0 %  main\n"
            " 60 ns  25 ns      1   60.0 %    query\n"
            " 25 ns  25 ns      2   25.0 %      fetch  (1 unwound)\n"
            " 10 ns  10 ns      1   10.0 %      parse\n");
}

TEST_F(Calls, FoldedHaveTheirOwnTimeBehindTheirWay) {
  add_queries(tree_);
  add_call(tree_, "odd;name", 3);
  EXPECT_EQ(folded_text(tree_),
            "main 40\n"
            "main;query 25\n"
            "main;query;fetch 25\n"
            "main;query;parse 10\n"
            "odd:name 3\n");
}

namespace {

// A row of calls that have ended, with `total_ns` together and `self_ns` of their own.
protocol::RowPart row_by_path(int64_t path, uint64_t calls, uint64_t total_ns, uint64_t self_ns) {
  protocol::RowPart row{.probe = "", .count = calls};
  row.by = {{"path", protocol::Key{path}}};
  row.sum = protocol::Integer{total_ns};
  row.self = self_ns;
  row.min = protocol::Integer{total_ns / calls};
  row.max = protocol::Integer{total_ns / calls};
  return row;
}

}  // namespace

// The call of `main` is still open, so it is known only from the calls within it.
TEST_F(Calls, SummedUpInTheKernelStandWhereTheirPathLeads) {
  tree_.add({{.path = 3, .around = 0, .probe = "uprobe:/bin/db:main"},
             {.path = 5, .around = 3, .probe = "uprobe:/bin/db:query"},
             {.path = 6, .around = 5, .probe = "uprobe:/bin/db:parse"},
             {.path = 9, .around = 3, .probe = "uprobe:/bin/db:parse"},
             {.path = 12, .around = 11, .probe = "uprobe:/bin/db:fetch"}},
            {row_by_path(5, 2, 60, 50), row_by_path(6, 1, 10, 10), row_by_path(9, 4, 40, 40),
             row_by_path(12, 1, 7, 7), row_by_path(13, 1, 1000, 1000)});
  EXPECT_EQ(folded_text(tree_),
            "[unknown];fetch 7\n"
            "main;parse 40\n"
            "main;query 50\n"
            "main;query;parse 10\n");
  EXPECT_EQ(function_table(tree_),
            "FUNCTION  CALLS  TOTAL   SELF    AVG    MIN  P50  P90  P99    MAX\n"
            "parse         5  50 ns  50 ns  10 ns  10 ns    -    -    -  10 ns\n"
            "query         2  60 ns  50 ns  30 ns  30 ns    -    -    -  30 ns\n"
            "fetch         1   7 ns   7 ns   7 ns   7 ns    -    -    -   7 ns\n");
}

TEST_F(Calls, AreMarkedWhereTheProbesTookMostOfTheirTime) {
  protocol::RowPart outer = row_by_path(1, 1, 100, 60), inner = row_by_path(2, 4, 40, 40);
  outer.probes = 300;
  inner.probes = 10;
  tree_.add({{.path = 1, .around = 0, .probe = "uprobe:/bin/db:query"},
             {.path = 2, .around = 1, .probe = "uprobe:/bin/db:parse"}},
            {outer, inner});
  EXPECT_EQ(function_table(tree_),
            "FUNCTION  CALLS   TOTAL   SELF     AVG     MIN  P50  P90  P99     MAX  PROBES\n"
            "query         1  100 ns  60 ns  100 ns  100 ns    -    -    -  100 ns    75 %\n"
            "parse         4   40 ns  40 ns   10 ns   10 ns    -    -    -   10 ns    20 %\n");
  EXPECT_EQ(sums_of(tree_, false).functions.at(0).probes_ns, 300u);
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
  EXPECT_EQ(
      function_table(tree_),
      "FUNCTION  CALLS   TOTAL    SELF    AVG    MIN       P50       P90       P99     MAX\n"
      "walk          3  200 ns  180 ns  77 ns  30 ns  <=100 ns  <=100 ns  <=100 ns  100 ns\n"
      "visit         1   50 ns   20 ns  50 ns  50 ns   <=50 ns   <=50 ns   <=50 ns   50 ns\n");
}

TEST_F(Calls, WithoutASeenEndAreCountedButHaveNoTime) {
  add(begin_of("serve", {1, 0}, 0));
  add(begin_of("gone", {2, 1}, 10));
  add(begin_of("step", {3, 2}, 20));
  add(end_of("step", {3, 2}, 50, 30));
  add(begin_of("deep", {0, 2}, 60));
  add(begin_of("next", {4, 1}, 70));
  add(end_of("next", {4, 1}, 80, 10));
  EXPECT_EQ(tree_text(tree_),
            "TOTAL   SELF  CALLS   SHARE  FUNCTION\n"
            "    -      -      1   0.0 %  serve  (1 without end)\n"
            "    -      -      1   0.0 %    gone  (1 without end)\n"
            "30 ns  30 ns      1  75.0 %      step\n"
            "    -      -      1   0.0 %      deep  (1 without end)\n"
            "10 ns  10 ns      1  25.0 %    next\n");
  add(end_of("serve", {1, 0}, 100, 100));
  EXPECT_EQ(folded_text(tree_), "serve 60\nserve;gone;step 30\nserve;next 10\n");
}

TEST_F(Calls, WithinOneWithoutEndOfTheirFunctionHaveATotalOfAtLeastTheirOwnTime) {
  add(begin_of("walk", {1, 0}, 0));
  add(begin_of("walk", {2, 1}, 10));
  add(end_of("walk", {2, 1}, 40, 30));
  add(begin_of("next", {3, 0}, 50));
  add(end_of("next", {3, 0}, 60, 10));
  EXPECT_EQ(function_table(tree_),
            "FUNCTION  CALLS  TOTAL   SELF    AVG    MIN      P50      P90      P99    MAX\n"
            "walk          2  30 ns  30 ns  30 ns  30 ns  <=30 ns  <=30 ns  <=30 ns  30 ns  1 "
            "without end\n"
            "next          1  10 ns  10 ns  10 ns  10 ns  <=10 ns  <=10 ns  <=10 ns  10 ns\n");
}

TEST_F(Calls, OfVeryManyThreadsHaveNoEndWhereTheyWereQuietLongest) {
  constexpr auto kMost = static_cast<pid_t>(OpenCalls::kMostThreads);
  for (pid_t tid = 1; tid <= kMost + 2; ++tid) add(in_thread(tid, begin_of("wait", {1, 0}, 0)));
  EXPECT_EQ(tree_.forgotten_threads(), 2u);
  for (pid_t tid = 3; tid <= kMost + 2; ++tid) add(in_thread(tid, end_of("wait", {1, 0}, 10, 10)));
  const CallFigures figures = tree_.functions().at(0).figures;
  EXPECT_EQ(figures.calls, OpenCalls::kMostThreads + 2);
  EXPECT_EQ(figures.without_end(), 2u);
}

TEST_F(Calls, WithoutASeenBeginningAreKnownByTheirEnd) {
  add(begin_of("main", {1, 0}, 0));
  add(begin_of("leaf", {3, 2}, 20));
  add(end_of("leaf", {3, 2}, 30, 10));
  add(end_of("query", {2, 1}, 60, 50));
  add(end_of("other", {4, 1}, 70, 5));
  add(end_of("main", {1, 0}, 100, 100));
  EXPECT_EQ(folded_text(tree_),
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
  EXPECT_EQ(folded_text(tree_), "main 80\nmain;resume 20\nmain;resume;body 70\n");
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
  EXPECT_EQ(comparison_text(before, tree_),
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

TEST_F(Calls, ThatAreComparedNameWhatIsNewAndGoneHoweverFewRowsAreShown) {
  CallTree before;
  add_call(before, "same", 10);
  add_call(before, "gone", 7);
  add_call(tree_, "same", 30);
  add_call(tree_, "new", 8);
  const std::string text = comparison_text(before, tree_, 1);
  EXPECT_THAT(text, HasSubstr("\nsame "));
  EXPECT_THAT(text, EndsWith("\n2 more rows\nnew: new\ngone: gone\n"));
}

TEST_F(Calls, AreShownInSoManyRowsAndTheOthersAreTold) {
  add_queries(tree_);
  EXPECT_EQ(function_table(tree_, 1),
            "FUNCTION  CALLS   TOTAL   SELF     AVG     MIN       P50       P90       P99     MAX\n"
            "main          1  100 ns  40 ns  100 ns  100 ns  <=100 ns  <=100 ns  <=100 ns  100 ns\n"
            "3 more rows\n");
  EXPECT_EQ(tree_text(tree_, 3),
            " TOTAL   SELF  CALLS    SHARE  FUNCTION\n"
            "100 ns  40 ns      1  100.0 %  main\n"
            " 60 ns  25 ns      1   60.0 %    query\n"
            " 25 ns  25 ns      2   25.0 %      fetch  (1 unwound)\n"
            "1 more row\n");
  EXPECT_THAT(tree_text(tree_, 4), Not(HasSubstr("more")));
}

// ---- deep ones ----

namespace {

constexpr uint32_t kDeep = 16'384;  // nested calls: the most that are followed

// Each has one nanosecond of its own.
void add_deep_calls(CallTree& tree) {
  for (uint32_t depth = 0; depth < kDeep; ++depth)
    tree.add(begin_of("walk", {depth + 1, depth}, depth));
  for (uint32_t depth = kDeep; depth-- > 0;)
    tree.add(end_of("walk", {depth + 1, depth}, 2 * kDeep, kDeep - depth));
}

// Runs it on a stack too small for a frame for each of these calls.
template <class Body> void on_small_stack(Body body) {
  pthread_attr_t attributes;
  ASSERT_EQ(pthread_attr_init(&attributes), 0);
  ASSERT_EQ(pthread_attr_setstacksize(&attributes, 512 << 10), 0);
  pthread_t thread;
  const auto run = [](void* given) -> void* { return (*static_cast<Body*>(given))(), nullptr; };
  ASSERT_EQ(pthread_create(&thread, &attributes, run, &body), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

}  // namespace

TEST(DeepCalls, AsATreeAreIndentedSoFarAndThenNumbered) {
  on_small_stack([] {
    CallTree tree;
    add_deep_calls(tree);
    const std::vector<std::string> lines = lines_of(tree_text(tree));
    ASSERT_EQ(lines.size(), kDeep + 1);
    EXPECT_THAT(lines[64], EndsWith(" %  " + std::string(126, ' ') + "walk"));
    EXPECT_THAT(lines[65], EndsWith(" %  " + std::string(128, ' ') + "[64] walk"));
    EXPECT_THAT(lines[kDeep], EndsWith(" %  " + std::string(128, ' ') + "[16383] walk"));
  });
}

TEST(DeepCalls, FoldedAreOneBelowAThousandLevels) {
  on_small_stack([] {
    CallTree tree;
    add_deep_calls(tree);
    const std::vector<std::string> lines = lines_of(folded_text(tree));
    ASSERT_EQ(lines.size(), 1001u);
    EXPECT_EQ(std::ranges::count(lines[999], ';'), 999);
    EXPECT_THAT(lines[999], EndsWith(";walk 1"));
    EXPECT_EQ(std::ranges::count(lines[1000], ';'), 1000);
    EXPECT_THAT(lines[1000], EndsWith(";walk;[deeper] 15384"));
  });
}

TEST(DeepCalls, ByFunctionHaveEachNanosecondOnce) {
  on_small_stack([] {
    CallTree tree;
    add_deep_calls(tree);
    const CallTree::Function walk = tree.functions().at(0);
    EXPECT_EQ(walk.figures.calls, kDeep);
    EXPECT_EQ(walk.total_ns, kDeep);
    EXPECT_EQ(walk.figures.self_ns, kDeep);
  });
}

TEST(DeepCalls, FoldedAreOneForEachWay) {
  CallTree tree;
  for (uint32_t depth = 0; depth < 999; ++depth) tree.add(begin_of("f", {depth + 1, depth}, depth));
  uint32_t number = 1000;
  for (const char* last : {"a", "b"}) {
    tree.add(begin_of(last, {number, 999}, 1000));
    for (int i = 0; i < 2; ++i, ++number) {
      tree.add(begin_of("deep", {number + 1, 1000}, 1000));
      tree.add(end_of("deep", {number + 1, 1000}, 1003, 3));
    }
    tree.add(end_of(last, {number - 2, 999}, 1010, 10));
    ++number;
  }
  std::vector<std::string> ends;
  for (const std::string& line : lines_of(folded_text(tree)))
    ends.push_back(line.substr(line.rfind(";f;") + 3));
  EXPECT_THAT(ends, ElementsAre("a 4", "a;[deeper] 6", "b 4", "b;[deeper] 6"));
}

namespace {

uint64_t own_time(const CallTree& tree) {
  uint64_t sum_ns = 0;
  std::istringstream lines(folded_text(tree));
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
