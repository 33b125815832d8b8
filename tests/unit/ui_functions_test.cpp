// SPDX-License-Identifier: BSD-2-Clause
//
// What is chosen in the interface, and the settings that it comes to.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/ui/function_screen.h"
#include "client/ui/marks.h"
#include "client/ui/process_screen.h"
#include "client/ui/typed_pattern.h"

using namespace tracectl::ui;
using testing::ElementsAre;
using Kind = Key::Kind;
using Wish = FunctionScreen::Wish;

namespace {

FoundProbe found(const std::string& probe) { return {probe, probe, "normal", 1}; }

FoundProbes found_by(const std::string& pattern, const std::vector<std::string>& probes) {
  FoundProbes all{pattern, {}};
  for (const std::string& probe : probes) all.probes.push_back(found(probe));
  return all;
}

template <class Screen> void type(Screen& screen, const std::string& text) {
  for (const char c : text) screen.take(static_cast<char32_t>(c));
}

// The screen after this was typed, and f1, f2 and f3 were found.
FunctionScreen screen_with(const std::string& typed) {
  FunctionScreen screen;
  type(screen, typed);
  screen.set({.pid = 1,
              .typed = typed,
              .found = {found_by(typed + '*', {"f1", "f2", "f3"})},
              .why_nothing = {}});
  return screen;
}

WantedSettings counts_of(const Marks& marks) { return marks.settings({}); }

}  // namespace

TEST(UiTyped, IsContinuedByWhateverCanFollow) {
  EXPECT_THAT(patterns_of_typed(""), ElementsAre("uprobe::*", "usdt::*:*"));
  EXPECT_THAT(patterns_of_typed("parse"), ElementsAre("parse*"));
  EXPECT_THAT(patterns_of_typed("ns::"), ElementsAre("ns::*"));
  EXPECT_THAT(patterns_of_typed("ns::f(int)"), ElementsAre("ns::f(int)"));
  EXPECT_THAT(patterns_of_typed("libc:mal*"), ElementsAre("libc:mal*"));
  EXPECT_THAT(patterns_of_typed("u:libc"), ElementsAre("u:libc*:*"));
  EXPECT_THAT(patterns_of_typed("u::ns::f"), ElementsAre("u::ns::f*"));
  EXPECT_THAT(patterns_of_typed("u::f+16"), ElementsAre("u::f+16"));
  EXPECT_THAT(patterns_of_typed("U:"), ElementsAre("U::*:*"));
  EXPECT_THAT(patterns_of_typed("usdt:libpython3*"), ElementsAre("usdt:libpython3*:*:*"));
  EXPECT_THAT(patterns_of_typed("usdt::python:gc"), ElementsAre("usdt::python:gc*"));
}

TEST(UiMarks, AllMatchesAreOneSettingAndOthersOneEach) {
  Marks marks;
  marks.add("f1");
  marks.add("g");
  marks.add_all(found_by("f*", {"f1", "f2"}));
  EXPECT_EQ(marks.size(), 3u);
  EXPECT_EQ(counts_of(marks), (WantedSettings{{"f*", "count"}, {"g", "count"}}));
}

TEST(UiMarks, APatternIsTakenApartForOneOfItsProbesIfItHasFew) {
  Marks marks;
  marks.add_all(found_by("f*", {"f1", "f2", "f3"}));
  EXPECT_EQ(marks.remove("f2"), "");
  EXPECT_EQ(counts_of(marks), (WantedSettings{{"f1", "count"}, {"f3", "count"}}));
  std::vector<std::string> many;
  for (size_t i = 0; i <= Marks::kMostTakenApart; ++i) many.push_back("m" + std::to_string(i));
  marks.add_all(found_by("m*", many));
  EXPECT_EQ(marks.remove("m1"), "m*");
  EXPECT_TRUE(marks.has("m1"));
}

TEST(UiMarks, EveryViewCountsHits) {
  Marks marks;
  marks.add("uprobe:/p:f");
  marks.add("usdt:/p:a:b");
  EXPECT_EQ(marks.settings({.view = View::times}),
            (WantedSettings{{"uprobe:/p:f", "count, time"}, {"usdt:/p:a:b", "count"}}));
  // The last setting is the one in force where several meet.
  EXPECT_EQ(marks.settings({.view = View::stacks, .stacks_of = "uprobe:/p:f"}),
            (WantedSettings{{"usdt:/p:a:b", "count"}, {"uprobe:/p:f", "count, count by stack"}}));
  EXPECT_EQ(marks.settings({.view = View::times, .events = true}),
            (WantedSettings{{"uprobe:/p:f", "count, time, event, return"},
                            {"usdt:/p:a:b", "count, event"}}));
}

TEST(UiFunctions, SpaceMarksAndTheMarksStayWhenThePatternChanges) {
  FunctionScreen screen = screen_with("f");
  screen.take(Kind::down);
  screen.take(U' ');
  EXPECT_EQ(screen.place().selected(), 2u);
  screen.take(Kind::backspace);
  EXPECT_EQ(screen.typed(), "");
  EXPECT_FALSE(screen.is_known());
  screen.set({.pid = 1, .typed = "", .found = {found_by("*", {"g"})}, .why_nothing = {}});
  EXPECT_TRUE(screen.marks().has("f2"));
  screen.take(U' ');
  EXPECT_EQ(counts_of(screen.marks()), (WantedSettings{{"f2", "count"}, {"g", "count"}}));
}

TEST(UiFunctions, LettersAreTextWhileItIsTypedAndCommandsAfterwards) {
  FunctionScreen screen = screen_with("f");
  screen.take(U'a');
  EXPECT_EQ(screen.typed(), "fa");
  screen = screen_with("f");
  screen.take(Kind::tab);
  screen.take(U'a');
  EXPECT_EQ(screen.typed(), "f");
  EXPECT_EQ(counts_of(screen.marks()), (WantedSettings{{"f*", "count"}}));
  screen.take(U'a');
  EXPECT_EQ(screen.marks().size(), 0u);
  screen.take(U'/');
  screen.take(control('A'));
  screen.take(U'n');
  EXPECT_EQ(screen.marks().size(), 3u);
  EXPECT_EQ(screen.typed(), "fn");
}

TEST(UiFunctions, EnterTakesTheSelectedOneIfNothingIsMarked) {
  FunctionScreen screen = screen_with("f");
  screen.take(Kind::down);
  EXPECT_EQ(screen.take(Kind::enter), Wish::go_on);
  EXPECT_EQ(counts_of(screen.marks()), (WantedSettings{{"f2", "count"}}));
  FunctionScreen empty;
  empty.set({.pid = 1, .typed = "", .found = {}, .why_nothing = "no match"});
  EXPECT_EQ(empty.take(Kind::enter), Wish::none);
  EXPECT_NE(empty.said(), "");
}

TEST(UiFunctions, KeysWaitForTheListOfWhatIsTyped) {
  FunctionScreen screen = screen_with("f");
  type(screen, "3");
  screen.take(U' ');
  EXPECT_EQ(screen.take(Kind::enter), Wish::none);
  EXPECT_EQ(screen.marks().size(), 0u);
  const Listed listed{
      .pid = 1, .typed = "f3", .found = {found_by("f3*", {"f3"})}, .why_nothing = {}};
  EXPECT_EQ(screen.set(listed), Wish::go_on);
  EXPECT_EQ(counts_of(screen.marks()), (WantedSettings{{"f3", "count"}}));
}

TEST(UiFunctions, AsksAFewTimesASecondAndOneAtATime) {
  FunctionScreen screen;
  ASSERT_TRUE(screen.due(1, 10));
  type(screen, "ab");
  EXPECT_FALSE(screen.due(1, 20));
  screen.set({.pid = 1, .typed = "", .found = {}, .why_nothing = {}});
  const auto asked = screen.due(1, 20);
  ASSERT_TRUE(asked);
  EXPECT_EQ(asked->typed, "ab");
  EXPECT_THAT(asked->patterns, ElementsAre("ab*"));
  screen.set({.pid = 1, .typed = "ab", .found = {}, .why_nothing = {}});
  type(screen, "c");
  EXPECT_FALSE(screen.due(1, 20 + FunctionScreen::kLeastBetweenLists_s / 2));
  EXPECT_TRUE(screen.due(1, 20 + FunctionScreen::kLeastBetweenLists_s));
}

TEST(UiProcesses, AreFilteredAsOneTypesAndTheSelectedOneStays) {
  ProcessScreen screen;
  const ProcessRow idle{1, "root", "/sbin/init", 0.0}, busy{70, "ann", "make -j4", 90.0},
      new_one{71, "ann", "Make all", {}};
  screen.set({idle, busy, new_one});
  EXPECT_EQ(screen.shown().front().pid, 70);
  type(screen, "make");
  ASSERT_EQ(screen.shown().size(), 2u);
  screen.take(Kind::down);
  screen.set({idle, {70, "ann", "make -j4", 0.0}, {71, "ann", "Make all", 50.0}});
  EXPECT_EQ(screen.take(Kind::enter), 71);
  screen.take(control('U'));
  EXPECT_EQ(screen.shown().size(), 3u);
  type(screen, "nobody");
  EXPECT_EQ(screen.take(Kind::enter), std::nullopt);
}
