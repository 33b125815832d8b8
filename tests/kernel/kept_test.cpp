// SPDX-License-Identifier: BSD-2-Clause
//
// keep_if keeps the records of a call only if the call matches at its end. Nothing of other calls
// leaves the kernel.
#include <map>
#include <set>

#include "tests/support/graph_trees.h"

namespace tracectl::on_kernel {
namespace {

class Kept : public GraphTest {
 protected:
  std::string of_deep_if(const std::string& condition, Returns returns = Returns::automatic) {
    return of_deep(3, {{.pattern = "u::deep", .returns = returns, .keep_if = condition}});
  }
};

uint64_t lost_of(const Collector& collector, LossCause cause) {
  uint64_t count = 0;
  for (const StreamItem& item : collector.items())
    if (const auto* lost = std::get_if<Lost>(&item); lost && lost->cause == cause)
      count += lost->count;
  return count;
}

// The program calls deep(3), and deep(0) in deep_land.
TEST_F(Kept, IsTheCallWhoseArgumentsMatch) {
  for (const Returns returns : {Returns::exits, Returns::trampoline}) {
    EXPECT_EQ(of_deep_if("arg0 == 3", returns), nested("deep", 4));
    must(engine->delete_session("s"));
    EXPECT_EQ(of_deep_if("arg0 == 0", returns), "deep()");
    must(engine->delete_session("s"));
    EXPECT_EQ(of_deep_if("arg0 == 2", returns), "");
    must(engine->delete_session("s"));
  }
}

TEST_F(Kept, IsTheCallWhoseResultMatches) { EXPECT_EQ(of_deep_if("retval == 1"), "deep()"); }

TEST_F(Kept, IsTheCallThatTookLong) {
  EXPECT_EQ(of_deep_if("duration >= 0"), nested("deep", 4) + "deep()");
  must(engine->delete_session("s"));
  EXPECT_EQ(of_deep_if("duration > 1000000000000"), "");
}

TEST_F(Kept, IsTheCallThatWasLeftWithoutReturning) {
  // The second call ends the first one; nothing ends the second.
  Program program("graph_deep", {"3", "2"});
  EXPECT_EQ(of(program, {{.pattern = "u::deep_jump", .keep_if = "thrown"}}),
            nested("deep_jump", 4, ")!"));
  must(engine->delete_session("s"));
  Program again("graph_deep", {"3", "2"});
  EXPECT_EQ(of(again, {{.pattern = "u::deep_jump", .keep_if = "!thrown"}}), "");
  must(engine->delete_session("s"));
  EXPECT_EQ(of_deep(3, {{.pattern = "u::deep", .keep_if = "thrown"}}), "");
}

// The outermost call decides, also about inner calls that would match on their own.
TEST_F(Kept, OrNotAreAllCallsWithinARoot) {
  const std::string landed = "deep_land(" + nested("deep_jump", 4, ")!") + "deep())";
  for (const auto& [condition, shown] :
       {std::pair{"arg0 == 3 && !thrown", landed}, {"thrown", std::string()}}) {
    EXPECT_EQ(of_deep(3, {{.pattern = "u::deep_land", .keep_if = condition}}), shown);
    must(engine->delete_session("s"));
  }
}

TEST_F(Kept, OrNotAreProbesThatFireWithin) {
  GraphScope scope = only("u::tree_*");
  scope.beside = {must(parse_pattern("U::tree:mark"))};
  for (const bool keeps : {true, false}) {
    Program program("graph_tree", {"1", "20", "/dev/null"});
    const std::string text =
        of(program,
           {{.pattern = "u::tree_07", .scope = scope, .keep_if = keeps ? "pid > 0" : "pid == 0"}});
    EXPECT_EQ(text.find('*') != std::string::npos, keeps);
    EXPECT_EQ(text.empty(), !keeps);
    must(engine->delete_session("s"));
  }
}

// Calls of another root of the session, which has no condition, are streamed at once.
TEST_F(Kept, IsWhatOtherSettingsOfTheSessionShow) {
  EXPECT_EQ(of_deep(3, {{"u::deep_land"}, {.pattern = "u::deep", .keep_if = "arg0 == 9"}}),
            "deep_land(" + nested("deep_jump", 4, ")!") + "deep())");
}

TEST_F(Kept, LeavesNothingOfTheOthersForTheReader) {
  const uint64_t bytes = engine->streams().stats().bytes;
  Program program("graph_deep", {"5", "100"});
  EXPECT_EQ(of(program, {{.pattern = "u::deep", .keep_if = "arg0 == 9"},
                         {.pattern = "u::deep_jump", .keep_if = "!thrown"}}),
            "");
  EXPECT_EQ(engine->streams().stats().bytes, bytes);
  const Totals totals = read("s").totals;
  EXPECT_EQ(totals.filtered, 300u);  // deep twice a round, deep_jump once
  EXPECT_EQ(totals.dropped_ring, 0u);
}

// A thread's blocks are used again, and no call may get what another one has left there.
TEST_F(Kept, OfManyCallsAreThoseThatMatch) {
  Program program("graph_deep", {"150", "40"});
  std::string expected;
  for (int i = 0; i < 40; ++i) expected += nested("deep", 151);
  EXPECT_EQ(of(program, {{.pattern = "u::deep", .keep_if = "arg0 == 150"}}), expected);
}

// The end of a call needs less room than a beginning, so there might be room for only the end.
TEST_F(Kept, IsTheBeginningWhereThereIsNoRoomForAll) {
  create("s");
  auto sink = std::make_shared<Collector>();
  must(engine->streams().subscribe("s", sink));
  constexpr uint64_t kCalls = 20'000;
  Program program("graph_deep", {"1", "1", std::to_string(kCalls)});
  must(engine->drafts().set(
      "s", {setting_of(program, {.pattern = "u::deep_often", .keep_if = "!thrown"})}));
  must(engine->commits().commit("s", {}));
  program.run();
  must(engine->streams().flush("s"));
  const auto events = events_of(*sink);
  const uint64_t lost = lost_of(*sink, LossCause::held_full);
  EXPECT_GT(lost, 0u);
  EXPECT_EQ(events.size() + lost, 2 * (kCalls + 1));
  ASSERT_GT(events.size(), 10'000u);
  EXPECT_EQ(events[0].call->depth, 0u);
  for (size_t i = 1; i < events.size(); ++i) {
    ASSERT_EQ(events[i].call->depth, 1u);
    ASSERT_EQ(events[i].kind, i % 2 ? EventKind::hit : EventKind::returned);
  }
  ASSERT_TRUE(std::holds_alternative<Lost>(sink->items().back()));
}

TEST_F(Kept, IsLostWhereTheRingHasNoRoomForIt) {
  start(EngineOptions{.ring_bytes = 4096});
  create("s");
  auto sink = std::make_shared<Collector>();
  must(engine->streams().subscribe("s", sink));
  Program program("graph_deep", {"90"});  // whose records fit into one block
  must(engine->drafts().set(
      "s", {setting_of(program, {.pattern = "u::deep", .keep_if = "arg0 == 90"})}));
  must(engine->commits().commit("s", {}));
  program.run();
  must(engine->streams().flush("s"));
  EXPECT_EQ(lost_of(*sink, LossCause::ring_full), 182u);
  EXPECT_EQ(read("s").totals.dropped_ring, 182u);
  EXPECT_TRUE(events_of(*sink).empty());
}

// It is not known whether the call would have matched.
TEST_F(Kept, IsTheCallThatItsThreadEndsIn) {
  create("s");
  auto sink = std::make_shared<Collector>();
  must(engine->streams().subscribe("s", sink));
  Program program("calls", {"16"});
  must(engine->drafts().set("s", {setting_of(program, {.pattern = "u::calls_last",
                                                       .keep_if = "duration > 1000000000000"})}));
  must(engine->commits().commit("s", {}));
  program.run();
  must(engine->streams().flush("s"));
  std::map<pid_t, Trees> trees;
  for (const Event& event : events_of(*sink)) trees[event.tid].add(event);
  EXPECT_EQ(trees.size(), 2u);
  for (const auto& [tid, tree] : trees) EXPECT_EQ(tree.text(), nested("calls_last", 3, ")!"));
}

// A root that jumps away has ended: its condition does not apply to the function that it jumps to.
TEST_F(Kept, IsNotWhatARootJumpsTo) {
  Program program("tail_jumps", {});
  EXPECT_EQ(of(program, {{.pattern = "u::jumps_once",
                          .scope = {.only = {}, .skip = {}, .beside = {}},
                          .returns = Returns::exits,
                          .keep_if = "duration > 1000000000000"}}),
            "");
}

TEST_F(Kept, ComesWithTheCpuAndTheTimeOfItsHits) {
  create("s");
  auto sink = std::make_shared<Collector>();
  must(engine->streams().subscribe("s", sink));
  Program program("graph_tree", {"4", "50", "/dev/null", "1000"});
  must(engine->drafts().set(
      "s", {setting_of(program, {.pattern = "u::tree_root", .keep_if = "duration >= 0"})}));
  must(engine->commits().commit("s", {}));
  program.run();
  must(engine->streams().flush("s"));
  std::map<pid_t, uint64_t> last;
  std::set<unsigned> cpus;
  for (const Event& event : events_of(*sink)) {
    EXPECT_LE(last[event.tid], event.ts_ns);
    last[event.tid] = event.ts_ns;
    cpus.insert(event.cpu);
  }
  EXPECT_EQ(last.size(), 4u);
  for (const unsigned cpu : cpus) EXPECT_LT(cpu, sysconf(_SC_NPROCESSORS_CONF));
}

// Each new keep_if of a setting is in force from its switch on, and records that waited for the old
// one are dropped.
TEST_F(Kept, FollowsASwitch) {
  create("s");
  auto sink = std::make_shared<Collector>();
  must(engine->streams().subscribe("s", sink));
  Program program("graph_deep", {"2", "2000"});
  for (const char* condition : {"arg0 == 9", "arg0 == 2", "arg0 == 0", "arg0 == 9", "arg0 == 2"}) {
    must(engine->drafts().set("s",
                              {setting_of(program, {.pattern = "u::deep", .keep_if = condition})}));
    must(engine->commits().commit("s", {}));
    if (condition == std::string("arg0 == 9")) program.send("go");
  }
  program.finish();
  must(engine->streams().flush("s"));
  Trees trees;
  for (const Event& event : events_of(*sink)) trees.add(event);
  (void)trees.text();
}

TEST_F(Kept, IsOfGraphsOnlyAndOfWhatIsKnownAtTheEnd) {
  Program program("graph_deep", {"3"});
  create("s");
  const auto staged = engine->drafts().set(
      "s", {setting_of(program, {.pattern = "u::deep", .keep_if = "stack_bytes > 100"})});
  const auto refused = staged ? engine->commits().commit("s", {}).error() : staged.error();
  EXPECT_NE(refused.message.find("stack_bytes is known where a call begins"), std::string::npos)
      << refused.message;
}

}  // namespace
}  // namespace tracectl::on_kernel
