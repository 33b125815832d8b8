// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/switching/budget.h"

#include <gtest/gtest.h>

#include "daemon/sessions/hit_cost.h"
#include "daemon/spec/parse.h"
#include "tests/support/must.h"

namespace tracectl {
namespace {

using on_kernel::must;
using Names = std::vector<std::string>;

Names names_of(const std::vector<ProbeLoad>& loads) {
  Names names;
  for (const ProbeLoad& load : loads) names.push_back(load.probe);
  return names;
}

ProbeLoad load(const std::string& probe, double percent, CostClass cost = CostClass::normal) {
  return {probe, cost, 1000, percent};
}

TEST(Budget, ThatIsKeptLeavesNothingOut) {
  EXPECT_TRUE(too_dear({}, 5).empty());
  EXPECT_TRUE(too_dear({load("a", 3), load("b", 2)}, 5).empty());
}

TEST(Budget, LeavesOutTheDearestUntilTheRestFits) {
  EXPECT_EQ(names_of(too_dear({load("a", 3), load("b", 90), load("c", 1)}, 5)), Names{"b"});
  EXPECT_EQ(names_of(too_dear({load("a", 30), load("b", 90), load("c", 1)}, 5)), (Names{"b", "a"}));
  EXPECT_EQ(names_of(too_dear({load("a", 30), load("b", 90)}, 5)), (Names{"b", "a"}));
}

TEST(Budget, OfManyCheapOnesLeavesOutOnlyAsManyAsItMust) {
  std::vector<ProbeLoad> loads;
  for (char name = 'a'; name <= 'j'; ++name) loads.push_back(load(std::string(1, name), 1));
  EXPECT_EQ(names_of(too_dear(loads, 8.5)), (Names{"a", "b"}));
}

TEST(Budget, OfThoseThatCostTheSameLeavesOutSlowOnesFirst) {
  EXPECT_EQ(names_of(too_dear({load("a", 10, CostClass::fast), load("b", 10, CostClass::slow),
                               load("c", 10, CostClass::normal)},
                              10)),
            (Names{"b", "c"}));
  // The costs are estimates.
  EXPECT_EQ(names_of(too_dear({load("a", 10.4), load("b", 10.1, CostClass::slow)}, 12)),
            Names{"b"});
  EXPECT_EQ(names_of(too_dear({load("a", 12), load("b", 10, CostClass::slow)}, 12)), Names{"a"});
}

TEST(Budget, NeverLeavesOutWhatIsNotHit) {
  EXPECT_EQ(names_of(too_dear({load("a", 0, CostClass::slow), load("b", 6)}, 5)), Names{"b"});
  // Also if its cost equals that of others, to a percent.
  EXPECT_EQ(names_of(too_dear({load("a", 0, CostClass::slow), load("b", 0.4)}, 0.1)), Names{"b"});
}

// ---- settings that go with them ----

Setting setting(const std::string& action) {
  Setting made;
  made.spec = must(parse_spec(action));
  return made;
}

TEST(WhatIsLeftOut, TakesTheOtherEndOfATimeWithIt) {
  Setting pair = setting("time"), other = setting("count");
  pair.latency.emplace();
  const std::vector<ArmedFor> armed{{"from", &pair}, {"to", &pair}, {"a", &other}, {"b", &other}};
  EXPECT_EQ(useless_without({"from"}, armed), ProbeNames{"to"});
  EXPECT_EQ(useless_without({"to"}, armed), ProbeNames{"from"});
  EXPECT_EQ(useless_without({"a"}, armed), ProbeNames{});
}

TEST(WhatIsLeftOut, TakesWhatIsBelowAGraphWithItWhereNoRootIsLeft) {
  Setting root = setting("graph"), below = setting("graph"), beside = setting("event");
  below.spec.within_graph = beside.spec.within_graph = true;
  const std::vector<ArmedFor> armed{
      {"root", &root}, {"second", &root}, {"below", &below}, {"beside", &beside}};
  EXPECT_EQ(useless_without({"root"}, armed), ProbeNames{});
  EXPECT_EQ(useless_without({"below"}, armed), ProbeNames{});
  EXPECT_EQ(useless_without({"root", "second"}, armed), (ProbeNames{"below", "beside"}));
}

// ---- the cost of a hit ----

constexpr HitCosts kCosts{
    .fast = 1, .normal = 10, .emulated = 20, .slow = 100, .trampoline = 1000, .kept_call = 5000};

TEST(HitCost, IsThatOfTheClass) {
  EXPECT_EQ(kCosts.of(CostClass::fast), 1);
  EXPECT_EQ(kCosts.of(CostClass::normal), 10);
  EXPECT_EQ(kCosts.of(CostClass::emulated), 20);
  EXPECT_EQ(kCosts.of(CostClass::slow), 100);
  EXPECT_EQ(kCosts.of(CostClass::slow, Way::entry, nullptr), 100);
}

TEST(HitCost, OfACallThatIsFollowedIncludesItsEnd) {
  ReturnPlan by_return{
      .way = Way::exits,
      .exits = {{.offset = 1, .cost = CostClass::normal}, {.offset = 2, .has_result = true}}};
  ReturnPlan by_emulated{.way = Way::exits,
                         .exits = {{.offset = 2, .has_result = true, .cost = CostClass::emulated}}};
  ReturnPlan by_jump{.way = Way::exits, .exits = {{.offset = 1, .cost = CostClass::normal}}};
  EXPECT_EQ(kCosts.of(CostClass::fast, Way::trampoline, nullptr), 1001);
  EXPECT_EQ(kCosts.of(CostClass::normal, Way::exits, &by_return), 5110);
  EXPECT_EQ(kCosts.of(CostClass::normal, Way::exits, &by_emulated), 5030);
  EXPECT_EQ(kCosts.of(CostClass::normal, Way::exits, &by_jump), 5020);
}

}  // namespace
}  // namespace tracectl
