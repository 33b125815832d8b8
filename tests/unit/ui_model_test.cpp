// SPDX-License-Identifier: BSD-2-Clause
//
// The interface without a terminal and without an engine: keys and answers in, requests and pictures out.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/render/shortened.h"
#include "client/ui/characters.h"
#include "client/ui/model.h"
#include "client/ui/pictures.h"

using namespace tracectl;
using namespace tracectl::ui;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using Kind = Key::Kind;

namespace {

constexpr const char* kF = "uprobe:/usr/bin/prog:f";
constexpr const char* kG = "uprobe:/usr/bin/prog:g";

template <class R> std::vector<R> of_kind(const std::vector<Request>& requests) {
  std::vector<R> found;
  for (const Request& request : requests)
    if (const R* one = std::get_if<R>(&request)) found.push_back(*one);
  return found;
}

protocol::RowPart row(const std::string& probe, uint64_t count) {
  protocol::RowPart part;
  part.probe = probe;
  part.count = count;
  return part;
}

protocol::RowPart times(const std::string& probe, uint64_t calls, uint64_t total) {
  protocol::RowPart part = row(probe, calls);
  part.of = "duration";
  part.sum = protocol::Integer{total};
  part.max = protocol::Integer{total};
  part.self = total;
  return part;
}

ui::Rows rows_of(std::vector<protocol::RowPart> rows, double at_s) {
  protocol::ReadReply read;
  for (const auto& one : rows) read.total_hits += one.count;
  read.rows = std::move(rows);
  return {std::move(read), at_s};
}

// The interface for process 7, of which f and g are found.
class UiModel : public testing::Test {
 protected:
  UiModel() {
    model.set_processes({{7, "root", "prog --fast", 1.0}});
    model.tick(1);
    model.take_requests();
    model.take(Listed{.pid = 7,
                      .typed = "",
                      .found = {{"uprobe::*", {{kF, "f", "normal", 1}, {kG, "g", "fast", 1}}}},
                      .why_nothing = {}});
  }

  void type(const std::string& text) {
    for (const char c : text) model.take(static_cast<char32_t>(c));
  }
  // The settings that are to be put in force now.
  std::vector<WantedSettings> switches() {
    std::vector<WantedSettings> all;
    for (const Switch& one : of_kind<Switch>(model.take_requests())) all.push_back(one.settings);
    return all;
  }
  void begin_live() {
    model.take(U' ');
    model.take(Kind::enter);
    model.take_requests();
    model.take(Switched{protocol::CommitReply{}});
  }
  std::string seen(Size size = {.lines = 20, .columns = 80}) {
    std::string text;
    for (const Line& line : picture_of(model, size).lines) text += text_of(line) + '\n';
    return text;
  }

  Model model{7};
};

}  // namespace

TEST_F(UiModel, GoingBackAndMarkingMoreIsOneSwitch) {
  model.take(U' ');
  model.take(Kind::enter);
  EXPECT_THAT(switches(), ElementsAre(WantedSettings{{kF, "count"}}));
  model.take(U'f');
  model.take(Kind::down);
  model.take(U' ');
  EXPECT_THAT(switches(), IsEmpty());
  model.take(Kind::enter);
  EXPECT_THAT(switches(), ElementsAre(WantedSettings{{kF, "count"}, {kG, "count"}}));
}

TEST_F(UiModel, KeysSwitchTheViewAndNothingIsSwitchedTwice) {
  begin_live();
  model.take(rows_of({row(kF, 5)}, 1));
  model.take(U't');
  EXPECT_THAT(switches(), ElementsAre(WantedSettings{{kF, "count, time"}}));
  model.take(U't');
  EXPECT_THAT(switches(), IsEmpty());
  model.take(U'k');
  EXPECT_THAT(switches(), ElementsAre(WantedSettings{{kF, "count, count by stack"}}));
  model.take(U'c');
  EXPECT_THAT(switches(), ElementsAre(WantedSettings{{kF, "count"}}));
}

TEST_F(UiModel, RowsAreReadEachSecondAndOneAtATime) {
  begin_live();
  const auto reads = [&](double now_s) {
    model.tick(now_s);
    return of_kind<ReadRows>(model.take_requests()).size();
  };
  EXPECT_EQ(reads(10), 1u);
  EXPECT_EQ(reads(20), 0u);
  model.take(rows_of({}, 20));
  EXPECT_EQ(reads(20), 1u);
  model.take(ui::Rows{Error{Code::kernel, "trouble"}, 20});
  EXPECT_EQ(model.status().text, "trouble");
  EXPECT_EQ(reads(20 + Model::kReadEvery_s / 2), 0u);
  EXPECT_EQ(reads(20 + Model::kReadEvery_s), 1u);
}

TEST_F(UiModel, ATableHasTotalsAndRatesAndIsSortedByTheChosenColumn) {
  model.take(control('A'));
  model.take(Kind::enter);
  model.take(rows_of({row(kF, 500), row(kG, 100)}, 10));
  model.take(rows_of({row(kF, 510), row(kG, 300), row("uprobe:/usr/bin/prog:unmarked", 9)}, 12));
  const auto names = [&] {
    std::vector<std::string> all;
    for (const LiveRow& one : model.live().rows()) all.push_back(one.name);
    return all;
  };
  EXPECT_THAT(names(), ElementsAre("uprobe:prog:f", "uprobe:prog:g"));
  EXPECT_DOUBLE_EQ(model.live().rows()[0].per_second.value_or(0), 5);
  EXPECT_THAT(seen(), HasSubstr("100       300  uprobe:prog:g"));
  model.take(U'<');
  EXPECT_THAT(names(), ElementsAre("uprobe:prog:g", "uprobe:prog:f"));
  model.take(U'>');
  model.take(U'>');
  EXPECT_THAT(names(), ElementsAre("uprobe:prog:f", "uprobe:prog:g"));
  model.take(U't');
  model.take(rows_of({row(kF, 1), times(kF, 3, 600), row(kG, 1), times(kG, 2, 4000)}, 13));
  EXPECT_THAT(names(), ElementsAre("uprobe:prog:g", "uprobe:prog:f"));
  EXPECT_THAT(seen(), HasSubstr("3    600 ns    200 ns"));
}

TEST_F(UiModel, StacksAreOfTheSelectedFunctionAndTheNextOneIsBesideIt) {
  model.take(control('A'));
  model.take(Kind::enter);
  model.take(rows_of({row(kF, 5), row(kG, 2)}, 1));
  model.take(Kind::down);
  model.take(Kind::enter);
  EXPECT_EQ(model.live().stacks_of(), kG);
  protocol::RowPart stack = row(kG, 2);
  stack.stack = {protocol::FramePart{}};
  stack.stack->front().function = "called_by";
  stack.stack_by = "frame_pointers";
  stack.stack_end = "outermost";
  model.take(rows_of({row(kF, 5), row(kG, 2), stack}, 2));
  EXPECT_THAT(seen(), HasSubstr("2 hits (100.0 %)"));
  EXPECT_THAT(seen(), HasSubstr("called_by"));
  model.take_requests();
  model.take(Kind::left);
  EXPECT_THAT(switches(),
              ElementsAre(WantedSettings{{"uprobe::*", "count"}, {kF, "count, count by stack"}}));
  EXPECT_THAT(seen(), Not(HasSubstr("called_by")));
}

TEST_F(UiModel, AFailedSwitchIsSaidAndIsNotTriedAgain) {
  model.take(Kind::enter);
  EXPECT_EQ(switches().size(), 1u);
  model.take(Switched{Error{Code::exhausted, "too many"}});
  EXPECT_EQ(model.status().text, "too many");
  EXPECT_TRUE(model.status().is_error);
  model.tick(100);
  EXPECT_THAT(switches(), IsEmpty());
}

TEST_F(UiModel, WhatIsMissingInTheFiguresIsSaid) {
  begin_live();
  protocol::ReadReply read;
  read.dropped_keys = 3;
  model.take(ui::Rows{read, 1});
  model.take(LeftOut{{{.probe = kF, .cost = "slow"}}, 10});
  const Said said = model.status();
  EXPECT_TRUE(said.is_error);
  EXPECT_THAT(said.text, HasSubstr("3 hits without a key"));
  EXPECT_THAT(said.text, HasSubstr("1 left out for the budget of 10 %"));
}

TEST_F(UiModel, ARecordingAddsEventsForAsLongAsItIsOn) {
  begin_live();
  model.take(U'r');
  type("a.tct");
  model.take(Kind::enter);
  const auto begun = of_kind<StartRecording>(model.take_requests());
  ASSERT_EQ(begun.size(), 1u);
  EXPECT_EQ(begun[0].file, "a.tct");
  EXPECT_EQ(begun[0].settings, (WantedSettings{{kF, "count, event"}}));
  model.take(U't');
  EXPECT_THAT(switches(), ElementsAre(WantedSettings{{kF, "count, time, event, return"}}));
  EXPECT_THAT(seen(), HasSubstr("recording to a.tct"));
  model.take(U'r');
  const auto ended = of_kind<StopRecording>(model.take_requests());
  ASSERT_EQ(ended.size(), 1u);
  EXPECT_EQ(ended[0].settings, (WantedSettings{{kF, "count, time"}}));
  EXPECT_THAT(seen(), Not(HasSubstr("recording to")));
}

TEST_F(UiModel, ARecordingThatFailsLeavesNoEvents) {
  begin_live();
  model.take(U'r');
  type("a.tct");
  model.take(Kind::enter);
  model.take_requests();
  Recording failed{.file = "a.tct", .part = {}};
  failed.part.state = "failed";
  failed.part.error = "no room";
  model.take(failed);
  EXPECT_EQ(model.status().text, "a.tct: no room");
  EXPECT_THAT(switches(), ElementsAre(WantedSettings{{kF, "count"}}));
}

TEST_F(UiModel, ANameIsAskedForAndEscapeTakesTheQuestionBack) {
  begin_live();
  model.take(U's');
  type("q");
  EXPECT_FALSE(model.is_over());
  EXPECT_THAT(seen(), HasSubstr("): q"));
  model.take(Kind::escape);
  EXPECT_THAT(model.take_requests(), IsEmpty());
  model.take(U's');
  type("mine");
  model.take(Kind::enter);
  const auto saved = of_kind<SaveAs>(model.take_requests());
  ASSERT_EQ(saved.size(), 1u);
  EXPECT_EQ(saved[0].name, "mine");
  model.take(U'q');
  EXPECT_TRUE(model.is_over());
}

TEST_F(UiModel, AnotherProcessBeginsAnew) {
  Model other{std::nullopt};
  other.set_processes({{7, "root", "prog", {}}, {8, "root", "other", {}}});
  other.take(Kind::enter);
  EXPECT_EQ(of_kind<ChooseProcess>(other.take_requests()).at(0).pid, 7);
  other.take(Kind::tab);
  other.take(Kind::escape);
  EXPECT_EQ(other.screen(), Screen::processes);
  other.take(Kind::down);
  other.take(Kind::enter);
  EXPECT_EQ(of_kind<ChooseProcess>(other.take_requests()).at(0).pid, 8);
  other.take(
      Listed{.pid = 7, .typed = "", .found = {{"*", {{kF, "f", "fast", 1}}}}, .why_nothing = {}});
  EXPECT_THAT(other.functions().shown(), IsEmpty());
}

TEST_F(UiModel, TheKeyThatLeavesIsTextWhileTextIsTyped) {
  model.take(U'q');
  EXPECT_FALSE(model.is_over());
  EXPECT_EQ(model.functions().typed(), "q");
  model.take(Kind::tab);
  model.take(U'q');
  EXPECT_TRUE(model.is_over());
}

TEST_F(UiModel, TheSelectedRowIsAlwaysSeen) {
  FoundProbes many{"uprobe::*", {}};
  for (int i = 0; i < 100; ++i) many.probes.push_back({kF, "f" + std::to_string(i), "fast", 1});
  model.functions().set({.pid = 7, .typed = "", .found = {many}, .why_nothing = {}});
  EXPECT_THAT(seen(), HasSubstr("  f14\n"));
  EXPECT_THAT(seen(), Not(HasSubstr("  f15\n")));
  model.take(Kind::page_down);
  EXPECT_THAT(seen(), HasSubstr("  f15\n"));
  model.take(Kind::end);
  EXPECT_THAT(seen(), HasSubstr("  f99\n"));
  EXPECT_THAT(seen(), Not(HasSubstr("  f84\n")));
}

TEST_F(UiModel, ThePictureFillsTheWindowAndSaysIfThatIsTooSmall) {
  for (const Size size : {Size{20, 80}, Size{10, 60}, Size{50, 200}}) {
    const Picture picture = picture_of(model, size);
    EXPECT_EQ(picture.lines.size(), size.lines);
    for (const Line& line : picture.lines) EXPECT_LE(width_of(text_of(line)), size.columns);
  }
  EXPECT_THAT(seen(), HasSubstr("7  prog --fast"));
  EXPECT_THAT(seen({.lines = 9, .columns = 80}), HasSubstr("too small: 80 x 9"));
}

TEST(UiText, OfOtherProcessesDoesNotReachTheTerminalAsItIs) {
  EXPECT_EQ(characters_of("a\033[2Jb\n"), U"a?[2Jb?");
  EXPECT_EQ(characters_of("\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"), U"\u00e9\u20ac\U0001f600");
  EXPECT_EQ(characters_of("\xc2\x9b!\xff\xc3"), U"?!??");
  EXPECT_EQ(characters_of("\xed\xa0\x80"), U"?");
  std::string text;
  for (const char32_t one : U"\u00e9\u20ac\U0001f600") append_character(text, one);
  EXPECT_EQ(text.substr(0, 9), "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
}
