// SPDX-License-Identifier: BSD-2-Clause
//
// Graphs of calls, as events: which calls belong to them, at which depth, and how they end. The
// programs nest their calls as requested (tests/targets/graph_deep.c, graph_tree.cpp).
#include <algorithm>

#include "tests/support/graph_trees.h"

namespace tracectl::on_kernel {
namespace {

class Graphs : public GraphTest {};

const std::string kLanded = "deep_land(" + nested("deep_jump", 4, ")!") + "deep())";

TEST_F(Graphs, ShowWhatIsReachedFromTheirRoots) {
  EXPECT_EQ(of_deep(3, {{"u::deep_land"}}), kLanded);
}

TEST_F(Graphs, OfSeveralRootsMayLieBelowEachOther) {
  EXPECT_EQ(of_deep(3, {{"u::deep_land"}, {"u::deep"}}), nested("deep", 4) + kLanded);
}

TEST_F(Graphs, OfSeveralRootsMayLieAboveEachOther) {
  EXPECT_EQ(of_deep(3, {{"u::deep"}, {"u::deep_land"}}), nested("deep", 4) + kLanded);
}

class GraphsByName : public GraphTest, public testing::WithParamInterface<const char*> {};

TEST_P(GraphsByName, ShowACallOnceIfItsFunctionIsARoot) {
  const std::string name = GetParam();
  Program program("two_names", {});
  EXPECT_EQ(of(program, {{"u::" + name}, {"u::outer"}}), "outer(" + name + "())");
}

INSTANTIATE_TEST_SUITE_P(Each, GraphsByName, testing::Values("inner", "other"));

TEST_F(Graphs, ShowFunctionsOfLibrariesOnlyInSingleProcesses) {
  Program program("graph_deep", {"3"});
  create("s");
  Setting set = setting_of(program, {"u::deep_land"});
  set.graph.imports = true;
  const Target of_process = set.target;
  Target with_children = of_process, of_file, of_all;
  with_children.follow = Follow::children;
  of_file.executables = {program.path()};
  of_all.all = true;
  for (const Target& target : {with_children, of_file, of_all}) {
    set.target = target;
    const auto staged = engine->drafts().set("s", {set});
    ASSERT_FALSE(staged);
    EXPECT_NE(staged.error().message.find("only in processes of -p PID"), std::string::npos);
  }
  set.target = of_process;
  EXPECT_TRUE(engine->drafts().set("s", {set}));
}

TEST_F(Graphs, ConditionDecidesWhetherARootOpensAndNotWhatIsBelow) {
  EXPECT_EQ(of_deep(9, {{"u::deep", "graph", "arg0 == 3"}}), nested("deep", 4));
}

TEST_F(Graphs, HaveNoMoreLevelsThanAskedFor) {
  EXPECT_EQ(of_deep(9, {{"u::deep_land", "graph(3)"}}),
            "deep_land(" + nested("deep_jump", 2, ")!") + "deep())");
}

TEST_F(Graphs, LeaveOutWhatIsToBeSkipped) {
  EXPECT_EQ(
      of_deep(3, {{"u::deep_land", "graph", "", {.only = {}, .skip = {"*_jump"}, .beside = {}}}}),
      "deep_land(deep())");
}

TEST_F(Graphs, ShowOnlyWhatIsNamed) {
  EXPECT_EQ(of_deep(3, {{"u::deep_land", "graph", "", only("u::deep")}}), "deep_land(deep())");
}

TEST_F(Graphs, AreRefusedWhereNothingIsWhatIsNamed) {
  Program program("graph_deep", {"3"});
  create("s");
  Setting set = setting_of(program, {"u::deep_land", "graph", "", only("u::nothing_like_*")});
  const auto staged = engine->drafts().set("s", {std::move(set)});
  ASSERT_FALSE(staged);
  EXPECT_NE(staged.error().message.find("no function matches"), std::string::npos);
}

// The kernel has at most 64 trampolines for a thread.
TEST_F(Graphs, SayWhichCallsAreCutBehind64Trampolines) {
  const std::string text =
      of_deep(99, {{"u::deep", "graph", "arg0 == 99", only("u::deep"), Returns::trampoline}});
  std::string expected;
  for (int i = 0; i < 64; ++i) expected += "deep(";
  for (int i = 64; i < 100; ++i) expected += "deep?";
  EXPECT_EQ(text, expected + std::string(64, ')'));
  EXPECT_EQ(cut_, 36u);
}

TEST_F(Graphs, AreExactToADepthOfTenThousand) {
  EXPECT_EQ(of_deep(10'000, {{"u::deep"}}), nested("deep", 10'001) + "deep()");
  EXPECT_EQ(cut_, 0u);
}

TEST_F(Graphs, SayWhichCallsAreCutBehindTheLastThatIsKept) {
  const std::string text = of_deep(TC_MAX_DEPTH, {{"u::deep", "graph", "arg0 > 0"}});
  EXPECT_EQ(text, [] {
    std::string kept;
    for (int i = 0; i < TC_MAX_DEPTH; ++i) kept += "deep(";
    return kept + "deep?" + std::string(TC_MAX_DEPTH, ')');
  }());
  EXPECT_EQ(cut_, 1u);
}

TEST_F(Graphs, OfOneSessionAreNoneOfAnothers) {
  create("other");
  Program program("graph_deep", {"5"});
  set("other", "u::deep", process(program.pid()), "time");
  EXPECT_EQ(of(program, {{"u::deep", "graph", "arg0 == 2"}}), nested("deep", 3));
}

// Other settings of the session follow calls, too, but only roots begin a graph.
TEST_F(Graphs, AreNotBegunByOtherSettings) {
  EXPECT_EQ(of_deep(3, {{"u::deep_land", "time"}, {"u::deep", "graph", "arg0 == 3"}}),
            nested("deep", 4));
}

TEST_F(Graphs, HaveTheArgumentsThatAreAskedFor) {
  Program program("graph_deep", {"3"});
  create("s");
  auto sink = std::make_shared<Collector>();
  must(engine->streams().subscribe("s", sink));
  set("s", "u::deep", process(program.pid()), "graph, event");
  program.run();
  must(engine->streams().flush("s"));
  std::vector<uint64_t> levels;
  for (const Event& event : events_of(*sink))
    if (event.kind == EventKind::hit) levels.push_back(event.args.at(0).value_or(99) & UINT32_MAX);
  EXPECT_EQ(levels, (std::vector<uint64_t>{3, 2, 1, 0, 0}));
}

// tree_07 calls a function that fires the probe, and tree_02 does not.
TEST_F(Graphs, ShowProbesOnlyWhereTheyFireWithin) {
  GraphScope scope = only("u::tree_*");
  scope.beside = {must(parse_pattern("U::tree:mark"))};
  Program program("graph_tree", {"1", "20", "/dev/null"});
  const std::string within = of(program, {{"u::tree_07", "graph", "", scope}});
  EXPECT_GT(std::count(within.begin(), within.end(), '*'), 0);
  EXPECT_EQ(within.find(")*tree_07"), std::string::npos);
  must(engine->delete_session("s"));
  Program again("graph_tree", {"1", "20", "/dev/null"});
  const std::string beside = of(again, {{"u::tree_02", "graph", "", scope}});
  EXPECT_GT(std::count(beside.begin(), beside.end(), '('), 0);
  EXPECT_EQ(std::count(beside.begin(), beside.end(), '*'), 0);
}

// All of them are called by one call instruction, at one stack pointer; so is jumps_end, once
// directly after jumps_elsewhere, which jumps to a function that is not shown.
TEST_F(Graphs, GoOnWhereARootLeavesByAJump) {
  std::vector<Wanted> roots;
  for (const char* root : {"u::jumps_once", "u::jumps_twice", "u::jumps_elsewhere"})
    roots.push_back({.pattern = root,
                     .scope = {.only = {}, .skip = {"jumps_aside"}, .beside = {}},
                     .returns = Returns::exits});
  Program program("tail_jumps", {});
  EXPECT_EQ(
      of(program, roots),
      "jumps_once()jumps_end()jumps_twice()jumps_middle()jumps_twice()jumps_middle()jumps_end()"
      "jumps_elsewhere()");
  must(engine->delete_session("s"));
  for (Wanted& root : roots) root.returns = Returns::trampoline;
  Program again("tail_jumps", {});
  EXPECT_EQ(
      of(again, roots),
      "jumps_once(jumps_end())jumps_twice(jumps_middle())jumps_twice(jumps_middle(jumps_end()))"
      "jumps_elsewhere()");
}

TEST_F(Graphs, TakeOneRootInSoMany) {
  Program program("graph_deep", {"4", "10"});
  const std::string text = of(program, {{"u::deep_land", "graph, sample(5)"}});
  EXPECT_EQ(text, [] {
    const std::string one = "deep_land(" + nested("deep_jump", 5, ")!") + "deep())";
    return one + one;
  }());
}

TEST_F(Graphs, AreNoTimesBetweenProbes) {
  Program program("graph_deep", {"3"});
  create("s");
  Setting set = setting_of(program, {"u::deep"});
  set.latency = Latency{.from = must(parse_pattern("u::deep_land")), .by = must(parse_keys("tid"))};
  EXPECT_FALSE(engine->drafts().set("s", {set}));
}

TEST_F(Graphs, BesideOtherActionsAreRefused) {
  for (const char* action : {"graph, count", "graph, return", "graph, stack", "graph, event(arg0)",
                             "graph, tag(\"x\")", "graph(0)", "graph(10001)"})
    EXPECT_FALSE(parse_spec(action)) << action;
}

}  // namespace
}  // namespace tracectl::on_kernel
