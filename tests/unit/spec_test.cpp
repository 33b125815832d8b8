// SPDX-License-Identifier: BSD-2-Clause
#include <gtest/gtest.h>

#include "daemon/model/setting.h"
#include "daemon/spec/parse.h"

using namespace tracectl;

namespace {

Spec parsed_spec(std::string_view text) {
  auto spec = parse_spec(text);
  EXPECT_TRUE(spec) << text << ": " << (spec ? "" : spec.error().message);
  return spec ? *spec : Spec{};
}

using AggregateKind = Aggregate::Kind;

Expr arg_at(uint64_t index) { return Expr::of_operand(Operand::arg, index); }

const Expr kPid = Expr::of_operand(Operand::pid);
const Expr kTid = Expr::of_operand(Operand::tid);

Spec spec_of(bool event, bool count, std::vector<Expr> by = {}) {
  Spec spec{.event = event};
  if (count) spec.aggregates.push_back({.kind = AggregateKind::count, .by = std::move(by)});
  return spec;
}

std::string refusal_of_spec(std::string_view text, size_t column) {
  auto spec = parse_spec(text);
  if (spec) return "accepted";
  EXPECT_EQ(spec.error().spot.value_or(Spot{}), (Spot{std::string{text}, column}));
  return spec.error().message;
}

bool ends_with(const std::string& text, std::string_view end) { return text.ends_with(end); }

}  // namespace

TEST(Spec, ActionsAreSeparatedByCommas) {
  EXPECT_EQ(parsed_spec("event"), spec_of(true, false));
  EXPECT_EQ(parsed_spec("count"), spec_of(false, true));
  EXPECT_EQ(parsed_spec(" event ,\tcount "), spec_of(true, true));
}

TEST(Spec, CommaBehindByGoesOnWithKeysThenWithActions) {
  EXPECT_EQ(parsed_spec("count by tid"), spec_of(false, true, {kTid}));
  EXPECT_EQ(parsed_spec("count by tid, pid"), spec_of(false, true, {kTid, kPid}));
  EXPECT_EQ(parsed_spec("count by pid, event"), spec_of(true, true, {kPid}));
  EXPECT_EQ(parsed_spec("count by pid,tid,event"), spec_of(true, true, {kPid, kTid}));
  EXPECT_EQ(parsed_spec("count by pid, event(arg0, tid)").values, (std::vector{arg_at(0), kTid}));
  Spec two = parsed_spec("sum(arg0) by pid, max(arg1) by tid, arg2");
  ASSERT_EQ(two.aggregates.size(), 2u);
  EXPECT_EQ(two.aggregates[0],
            (Aggregate{.kind = AggregateKind::sum, .value = arg_at(0), .by = {kPid}}));
  EXPECT_EQ(two.aggregates[1],
            (Aggregate{.kind = AggregateKind::max, .value = arg_at(1), .by = {kTid, arg_at(2)}}));
}

TEST(Spec, EventTakesTheValuesToBeSent) {
  EXPECT_EQ(parsed_spec("event(arg0 + 1, str(arg1, 8), comm)"),
            (Spec{.event = true,
                  .values = {Expr::of_binary(Operator::add, arg_at(0), Expr::of_integer(1)),
                             Expr::of_str(arg_at(1), 8), Expr::of_operand(Operand::comm)}}));
}

TEST(Spec, StackGoesWithAnEventAndSaysHowManyFramesAndHow) {
  Spec plain = spec_of(true, false);
  plain.stack = StackCapture{};
  EXPECT_EQ(parsed_spec("stack"), plain);
  EXPECT_EQ(parsed_spec("stack, event"), plain);
  EXPECT_EQ(to_string(parsed_spec("stack(32)")), "event, stack");
  EXPECT_EQ(parsed_spec("stack(127)").stack, (StackCapture{127, {}}));
  EXPECT_EQ(parsed_spec("stack(frame_pointers)").stack,
            (StackCapture{32, StackBy::frame_pointers}));
  EXPECT_EQ(parsed_spec("stack(5, unwind_tables)").stack,
            (StackCapture{5, StackBy::unwind_tables}));
  refusal_of_spec("stack(0)", 6);
  refusal_of_spec("stack(128)", 6);
  refusal_of_spec("stack(5, guess)", 9);
  refusal_of_spec("stack, stack", 7);
}

TEST(Spec, LinearHistogramTakesItsBuckets) {
  Aggregate lhist{.kind = AggregateKind::lhist,
                  .value = arg_at(0),
                  .min = -10,
                  .max = 100,
                  .step = 5,
                  .by = {kPid}};
  EXPECT_EQ(parsed_spec("lhist(arg0, -10, 100, 5) by pid").aggregates, std::vector{lhist});
  EXPECT_TRUE(parse_spec("lhist(arg0, 0, 1000, 1)"));
  EXPECT_TRUE(
      parse_spec("lhist(arg0, -0x8000000000000000, 0x7fffffffffffffff, 0x7fffffffffffffff)"));
  EXPECT_NE(refusal_of_spec("lhist(arg0, 0, 1001, 1)", 21).find("1000 buckets"), std::string::npos);
  EXPECT_NE(refusal_of_spec("lhist(arg0, 5, 5, 1)", 15).find("greater than MIN"),
            std::string::npos);
  EXPECT_NE(refusal_of_spec("lhist(arg0, 0, 5, 0)", 18).find("STEP must be 1"), std::string::npos);
  EXPECT_NE(refusal_of_spec("lhist(arg0, 0, 5)", 16).find("STEP"), std::string::npos);
  EXPECT_NE(refusal_of_spec("lhist(arg0, 0, 5, tid)", 18).find("STEP, an integer"),
            std::string::npos);
  EXPECT_NE(refusal_of_spec("lhist(arg0, -0x8000000000000001, 5, 1)", 12).find("64 bits"),
            std::string::npos);
}

TEST(Spec, ModifiersGoWithAnEventIfNothingElseIsDone) {
  EXPECT_EQ(parsed_spec("sample(10)"), (Spec{.event = true, .sample = 10}));
  EXPECT_EQ(parsed_spec("limit(0x10), count"),
            (Spec{.aggregates = {{.kind = AggregateKind::count}}, .limit = 16}));
  EXPECT_EQ(parsed_spec("tag(\"a\\x41\\\"\")"), (Spec{.tag = "aA\""}));
  EXPECT_EQ(parsed_spec("silent"), (Spec{.silent = true}));
  EXPECT_EQ(parsed_spec("silent(off), tag(\"\")"), (Spec{.tag = "", .silent = false}));
}

TEST(Spec, TheDeepestAreNeitherSampledNorLimited) {
  EXPECT_EQ(parsed_spec("deepest"), (Spec{.event = true, .deepest = true}));
  EXPECT_EQ(parsed_spec("count by tid, deepest"), parsed_spec("deepest, count by tid"));
  EXPECT_EQ(refusal_of_spec("deepest, deepest", 9), "deepest stands here twice");
  EXPECT_NE(refusal_of_spec("sample(2), deepest", 11).find("beside deepest"), std::string::npos);
  EXPECT_NE(refusal_of_spec("deepest, limit(2)", 0).find("beside deepest"), std::string::npos);
  EXPECT_NE(refusal_of_spec("deepest, graph", 9).find("beside graph"), std::string::npos);
}

TEST(Spec, SplitGoesWithWhatHasADuration) {
  EXPECT_TRUE(parsed_spec("time by tid, split").split);
  EXPECT_TRUE(parsed_spec("return, split").split);
  EXPECT_TRUE(parsed_spec("graph, split, time by path").split);
  EXPECT_EQ(to_string(parsed_spec("split, return")), "event, return, split");
  EXPECT_EQ(refusal_of_spec("split, split", 7), "split stands here twice");
  for (const char* text : {"split", "split, count", "split, sum(arg0)"})
    EXPECT_NE(refusal_of_spec(text, 0).find("nothing here has one"), std::string::npos) << text;
}

TEST(Spec, SplitsDurationsAlsoForValues) {
  for (const char* text : {"event(blocked)", "sum(runnable)", "hist(duration - blocked)"})
    EXPECT_TRUE(splits_durations(parsed_spec(text))) << text;
  for (const char* text : {"time", "return", "sum(block)", "hist(duration)"})
    EXPECT_FALSE(splits_durations(parsed_spec(text))) << text;
}

TEST(Spec, TriggersNameSessions) {
  EXPECT_EQ(parsed_spec("trigger(slow), trigger(\"it-1\", off)"),
            (Spec{.triggers = {{"slow", true}, {"it-1", false}}}));
  EXPECT_EQ(parsed_spec("trigger(\"slow\")"), parsed_spec("trigger(slow)"));
  EXPECT_NE(refusal_of_spec("trigger", 0).find("trigger(SESSION)"), std::string::npos);
  EXPECT_NE(refusal_of_spec("trigger(slow, on)", 14).find("off is missing"), std::string::npos);
  EXPECT_NE(refusal_of_spec("trigger(slow), trigger(slow, off)", 15).find("once"),
            std::string::npos);
  EXPECT_NE(refusal_of_spec("trigger(a), trigger(b), trigger(c), trigger(d), trigger(e)", 48)
                .find("4 trig"),
            std::string::npos);
  EXPECT_NE(refusal_of_spec("silent(on)", 7).find("off is missing"), std::string::npos);
}

// `tag` is an action and a value.
TEST(Spec, ATagIsAKeyUnlessAParenthesisFollows) {
  const Expr tag = Expr::of_operand(Operand::tag);
  EXPECT_EQ(parsed_spec("count by pid, tag"), spec_of(false, true, {kPid, tag}));
  EXPECT_EQ(parsed_spec("count by tag, event").aggregates.front().by, std::vector{tag});
  EXPECT_EQ(parsed_spec("count by pid, tag(\"x\")").tag, "x");
  EXPECT_NE(refusal_of_spec("count by tag(\"x\")", 9).find("a key is missing"), std::string::npos);
  EXPECT_NE(refusal_of_spec("sum(tag)", 4).find("tag is a string"), std::string::npos);
}

TEST(Spec, NamesOfCgroupsAreKeysOnly) {
  EXPECT_TRUE(parse_spec("count by container, unit"));
  EXPECT_NE(refusal_of_spec("event(unit)", 6).find("it can be a key"), std::string::npos);
  EXPECT_NE(refusal_of_spec("sum(container)", 4).find("it can be a key"), std::string::npos);
  EXPECT_NE(refusal_of_spec("count by unit + 1", 9).find("it can be a key"), std::string::npos);
  EXPECT_FALSE(parse_condition("unit == \"ssh.service\""));
}

// `stack` is an action and a key.
TEST(Spec, AStackBehindAKeyIsAKey) {
  const Expr stack = Expr::of_operand(Operand::stack, kDefaultFrames);
  EXPECT_EQ(parsed_spec("count by stack"), spec_of(false, true, {stack}));
  EXPECT_EQ(parsed_spec("count by pid, stack"), spec_of(false, true, {kPid, stack}));
  EXPECT_EQ(parsed_spec("stack, count by stack").stack, StackCapture{});
  EXPECT_EQ(to_string(parsed_spec("count by stack(5), caller")), "count by stack(5), caller");
  EXPECT_EQ(to_string(parsed_spec("count by stack(32)")), "count by stack");
  EXPECT_TRUE(has_stack_keys(parsed_spec("time by caller")));
  EXPECT_FALSE(has_stack_keys(parsed_spec("stack, time by tid")));
  refusal_of_spec("count by stack(0)", 15);
  refusal_of_spec("count by stack(128)", 15);
  EXPECT_NE(refusal_of_spec("count by stack, stack(5)", 16).find("twice"), std::string::npos);
  EXPECT_NE(refusal_of_spec("event(caller)", 6).find("it can be a key"), std::string::npos);
  EXPECT_NE(refusal_of_spec("count by caller + 1", 9).find("it can be a key"), std::string::npos);
  EXPECT_FALSE(parse_condition("caller == 5"));
  EXPECT_FALSE(parse_keys("caller"));
}

TEST(Spec, RowsAreByProbeAlways) {
  EXPECT_EQ(parsed_spec("count by probe"), spec_of(false, true));
  EXPECT_EQ(parsed_spec("count by tid, probe"), spec_of(false, true, {kTid}));
  EXPECT_EQ(refusal_of_spec("count by probe, probe", 16), "probe stands here twice");
}

TEST(Spec, SaysWhatWaitsForTheReturn) {
  EXPECT_TRUE(parsed_spec("return").event);
  EXPECT_TRUE(parsed_spec("return").returns);
  EXPECT_EQ(refusal_of_spec("return, return", 8), "return stands here twice");
  EXPECT_FALSE(follows_calls(parsed_spec("event, count by arg0, sum(arg1)")));
  for (const char* text : {"return", "time", "count by retval", "sum(duration)", "event(retval)"})
    EXPECT_TRUE(follows_calls(parsed_spec(text))) << text;
  EXPECT_TRUE(is_event_at_return(parsed_spec("event(arg0, duration)")));
  EXPECT_FALSE(is_event_at_return(parsed_spec("event(arg0), time")));
  Spec spec = parsed_spec("event, count");
  spec.when = *parse_condition("arg0 > 1 && retval < 0");
  EXPECT_TRUE(is_all_at_return(spec) && is_event_at_return(spec) && follows_calls(spec));
}

TEST(Spec, CanonicalTextReadsBackAsTheSameSpec) {
  for (const char* text :
       {"event", "count", "event, count", "count by tid, pid", "event, count by pid",
        "event(arg0, str(arg1), str(arg2, 5)), sum(arg0 * 2) by comm, avg(arg1), min(arg2)",
        "max(arg3) by arg1 & 7, str(arg2), hist(arg0), lhist(arg0, -5, 100, 10) by uid",
        "event, return, time by arg0, retval, hist(duration) by retval & 1, time",
        "event, sample(10), limit(100), tag(\"a\\\"b\"), silent",
        "count by tag, pid, tag(\"x\"), silent(off), trigger(slow), trigger(\"a-1.b\", off)"}) {
    EXPECT_EQ(to_string(parsed_spec(text)), text);
    EXPECT_EQ(parsed_spec(to_string(parsed_spec(text))), parsed_spec(text));
  }
  EXPECT_EQ(to_string(parsed_spec("count by pid, event")), "event, count by pid");
  EXPECT_EQ(to_string(parsed_spec("silent,sample(2) , hist((arg0))")),
            "hist(arg0), sample(2), silent");
}

TEST(Spec, UnknownNamesAreRefusedWithTheNearest) {
  EXPECT_TRUE(ends_with(refusal_of_spec("event, cuont", 7), "did you mean \"count\"?"));
  EXPECT_TRUE(ends_with(refusal_of_spec("count by tiid", 9), "did you mean \"tid\"?"));
  EXPECT_TRUE(ends_with(refusal_of_spec("count bu pid", 6), "did you mean \"by\"?"));
  std::string far = refusal_of_spec("histogram", 0);
  EXPECT_NE(far.find("unknown action \"histogram\""), std::string::npos);
  EXPECT_EQ(far.find("did you mean"), std::string::npos);
}

TEST(Spec, MissingPartsAreShownWhereTheyShouldBe) {
  EXPECT_NE(refusal_of_spec("", 0).find("an action is missing"), std::string::npos);
  EXPECT_NE(refusal_of_spec("event,", 6).find("an action is missing"), std::string::npos);
  EXPECT_NE(refusal_of_spec(",event", 0).find("an action is missing"), std::string::npos);
  EXPECT_NE(refusal_of_spec("count by", 8).find("a key is missing"), std::string::npos);
  EXPECT_NE(refusal_of_spec("count by pid,", 13).find("an action is missing"), std::string::npos);
  EXPECT_NE(refusal_of_spec("sum", 0).find("sum(arg0)"), std::string::npos);
  EXPECT_NE(refusal_of_spec("sum(", 4).find("a value"), std::string::npos);
  EXPECT_NE(refusal_of_spec("sum(arg0", 8).find("\")\" is missing"), std::string::npos);
  EXPECT_NE(refusal_of_spec("event()", 6).find("a value"), std::string::npos);
  EXPECT_NE(refusal_of_spec("sample", 0).find("sample(10)"), std::string::npos);
}

TEST(Spec, UnknownNameBehindAKeyMayBeMeantAsAnAction) {
  EXPECT_TRUE(ends_with(refusal_of_spec("count by pid, evnt", 14), "did you mean \"event\"?"));
  EXPECT_TRUE(ends_with(refusal_of_spec("count by pid, coom", 14), "did you mean \"comm\"?"));
}

TEST(Spec, NothingStandsTwice) {
  EXPECT_EQ(refusal_of_spec("event, event", 7), "event stands here twice");
  EXPECT_EQ(refusal_of_spec("count by pid, count by pid", 14), "count stands here twice");
  EXPECT_EQ(refusal_of_spec("sum(arg0), sum(arg0)", 11), "sum stands here twice");
  EXPECT_EQ(refusal_of_spec("count by pid, pid", 14), "pid stands here twice");
  EXPECT_EQ(refusal_of_spec("silent, silent", 8), "silent stands here twice");
  EXPECT_EQ(refusal_of_spec("sample(1), sample(2)", 11), "sample stands here twice");
  EXPECT_EQ(refusal_of_spec("limit(1), limit(2)", 10), "limit stands here twice");
  EXPECT_EQ(refusal_of_spec("tag(\"a\"), tag(\"a\")", 10), "tag stands here twice");
}

TEST(Spec, AggregatesTakeIntegersAndKeysStringsToo) {
  EXPECT_TRUE(parse_spec("count by comm, str(arg0)"));
  EXPECT_NE(refusal_of_spec("sum(comm)", 4).find("not an integer"), std::string::npos);
  EXPECT_NE(refusal_of_spec("hist(str(arg0))", 5).find("not an integer"), std::string::npos);
  EXPECT_NE(refusal_of_spec("count by \"x\"", 9).find("never changes"), std::string::npos);
  EXPECT_NE(refusal_of_spec("event(comm + 1)", 6).find("not an integer"), std::string::npos);
}

TEST(Spec, NumbersHaveBounds) {
  EXPECT_EQ(refusal_of_spec("sample(0)", 7), "sample takes 1 or more");
  EXPECT_EQ(refusal_of_spec("limit(0)", 6), "limit takes 1 or more");
  EXPECT_NE(refusal_of_spec("sample(-1)", 7).find("an integer"), std::string::npos);
  EXPECT_TRUE(parse_spec("tag(\"123456789012345\")"));
  EXPECT_NE(refusal_of_spec("tag(\"1234567890123456\")", 4).find("15 bytes"), std::string::npos);
  EXPECT_TRUE(parse_spec("count by arg0, arg1, arg2"));
  EXPECT_EQ(refusal_of_spec("count by arg0, arg1, arg2, arg3", 27), "3 keys at most");
  std::string values = "event(0", sums = "sum(0)";
  for (int i = 1; i < 12; i++) values += "," + std::to_string(i);
  EXPECT_TRUE(parse_spec(values + ")"));
  EXPECT_EQ(refusal_of_spec(values + ",12)", values.size() + 1), "an event has 12 values at most");
  for (int i = 1; i < 8; i++) sums += ",sum(" + std::to_string(i) + ")";
  EXPECT_TRUE(parse_spec(sums));
  EXPECT_EQ(refusal_of_spec(sums + ",count", sums.size() + 1), "8 aggregates at most");
}

TEST(Spec, KeysOfALatencyAreKnownAtItsStart) {
  const auto keys = parse_keys(" str( arg0 ) ,pid, arg1+1");
  ASSERT_TRUE(keys);
  EXPECT_EQ(keys_text(*keys), "str(arg0), pid, arg1 + 1");
  const auto refusal_of = [](const std::string& text, size_t column) -> std::string {
    const auto refused = parse_keys(text);
    if (refused) return "it is taken";
    EXPECT_EQ(refused.error().spot.value().column, column) << text;
    return refused.error().message;
  };
  EXPECT_NE(refusal_of("pid, duration", 5).find("not known at the start"), std::string::npos);
  EXPECT_NE(refusal_of("arg0 + retval", 5).find("not known at the start"), std::string::npos);
  EXPECT_EQ(refusal_of("arg0, arg1, arg2, arg3", 18), "3 keys at most");
  EXPECT_EQ(refusal_of("tid, tid", 5), "tid stands here twice");
  EXPECT_NE(refusal_of("", 0).find("a key is missing"), std::string::npos);
  EXPECT_NE(refusal_of("probe", 0).find("other keys"), std::string::npos);
  EXPECT_FALSE(parse_keys("tid, count"));
  EXPECT_FALSE(parse_keys("tid pid"));
}

TEST(Spec, StrangeCharactersAreShown) {
  EXPECT_EQ(refusal_of_spec("count(pid)", 6), "\"pid\" is not expected here, but \")\"");
  EXPECT_EQ(refusal_of_spec("event\x01", 5), "this character has no meaning here");
  EXPECT_EQ(refusal_of_spec("event;", 5), "\";\" has no meaning here");
  EXPECT_FALSE(parse_spec(std::string(5000, ' ') + "event"));
}

TEST(Spec, TextThatIsTooLongWrittenInFullIsRefused) {
  std::string text = "count by comm == \"" + std::string(15, '\x7f') + "\"";
  EXPECT_TRUE(parse_spec(text));
  std::string long_text = "event(comm == \"x\"";
  for (int i = 0; i < 60; i++) long_text += "||comm==\"" + std::string(15, '\x7f') + "\"";
  EXPECT_LE(long_text.size(), 4096u);
  EXPECT_NE(refusal_of_spec(long_text + ")", 0).find("more than 4096 bytes"), std::string::npos);
}
