// SPDX-License-Identifier: BSD-2-Clause
//
// Conditions and sums over recorded events.
#include "daemon/spec/event_sums.h"

#include <gtest/gtest.h>

#include <bit>
#include <string>
#include <vector>

#include "daemon/spec/event_condition.h"
#include "tests/support/call_events.h"

namespace tracectl {
namespace {

// An event of f(int count, const char* name, double), with the name recorded as text.
Event sample_of(int32_t count, const std::string& name) {
  Event event = event_of(EventKind::hit, "uprobe:/usr/bin/prog:f", 5000);
  auto source = std::make_shared<EventSource>(*event.source);
  source->arguments.resize(3);
  source->arguments[0].name = "count";
  source->arguments[0].is_signed = true;
  source->arguments[0].size_bytes = 4;
  source->arguments[1].name = "name";
  source->arguments[1].is_string = true;
  source->arguments[2].is_float = true;
  event.source = source;
  event.args = {static_cast<uint32_t>(count), 0, std::bit_cast<uint64_t>(1.5)};
  event.strings = {name};
  return event;
}

Event returned_after(uint64_t duration_ns) {
  Event event = event_of(EventKind::returned, "uprobe:/usr/bin/prog:f", 6000);
  event.duration_ns = duration_ns;
  event.retval = static_cast<uint64_t>(-1);
  return event;
}

bool holds(const std::string& text, const Event& event) {
  auto condition = EventCondition::parse(text);
  EXPECT_TRUE(condition) << text;
  return condition && condition->holds(event);
}

std::string misfit(const std::string& text, const Event& event) {
  auto condition = EventCondition::parse(text);
  if (!condition) return condition.error().message;
  EXPECT_FALSE(condition->holds(event));
  auto fits = condition->check();
  return fits ? "fits" : fits.error().message;
}

TEST(EventCondition, IsAboutWhatEventsHave) {
  const Event event = sample_of(-3, "alpha");
  for (const char* text :
       {"arg0 == -3", "arg.count < 0", "pid == 4711 && tid == pid", "comm == \"prog\"", "cpu == 1",
        "str(arg1) == \"alpha\"", "str(arg.name) =~ \"al*\"", "ts == 5000", "tag == \"\""})
    EXPECT_TRUE(holds(text, event)) << text;
  for (const char* text : {"arg0 == 4294967293", "comm == \"pro\"", "str(arg1) =~ \"be*\"", "!pid"})
    EXPECT_FALSE(holds(text, event)) << text;
}

TEST(EventCondition, OfAnEndHoldsForEndsOnly) {
  EXPECT_TRUE(holds("duration >= 700", returned_after(700)));
  EXPECT_FALSE(holds("duration >= 700", returned_after(699)));
  EXPECT_FALSE(holds("duration >= 0", sample_of(1, "")));
  Event unwound = returned_after(700);
  unwound.kind = EventKind::unwound;
  EXPECT_TRUE(holds("thrown", unwound));
  EXPECT_TRUE(holds("!thrown", returned_after(700)));
  EXPECT_FALSE(holds("!thrown", sample_of(1, "")));
  EXPECT_TRUE(holds("retval == -1", returned_after(1)));
}

TEST(EventCondition, HoldsNotWhereAValueCouldNotBeRead) {
  Event event = sample_of(1, "a");
  event.args[0].reset();
  EXPECT_FALSE(holds("arg0 == 1", event));
  EXPECT_FALSE(holds("arg0 != 1", event));
  EXPECT_TRUE(holds("pid == 4711 || arg0 == 1", event));
}

TEST(EventCondition, SaysWhatWasNotRecorded) {
  const Event event = sample_of(1, "a");
  EXPECT_NE(misfit("uid == 0", event).find("uid is not recorded"), std::string::npos);
  EXPECT_NE(misfit("u32(arg0) == 0", event).find("memory"), std::string::npos);
  EXPECT_NE(misfit("str(arg0) == \"a\"", event).find("event(str(arg0)) records it"),
            std::string::npos);
  EXPECT_NE(misfit("arg1 == 0", event).find("str(arg1)"), std::string::npos);
  EXPECT_NE(misfit("arg7 == 0", event).find("3 arguments"), std::string::npos);
  EXPECT_NE(misfit("arg2 > 1", event).find("float"), std::string::npos);
  EXPECT_NE(misfit("arg.nam == 0", event).find("name"), std::string::npos);
  EXPECT_EQ(misfit("pid == 1", event), "fits");
}

// ---- sums ----

Rows sums_of(const std::string& actions, const std::vector<Event>& events,
             const std::string& when = "") {
  auto sums = EventSums::parse(actions, when);
  EXPECT_TRUE(sums) << actions;
  for (const Event& event : events) sums->add(event);
  EXPECT_TRUE(sums->check());
  return sums->rows();
}

const Row& row_at(const Rows& rows, const KeyValue& key) {
  for (const auto& [of, row] : rows)
    if (!of.by.empty() && of.by[0].value == key) return row;
  throw std::logic_error("no such row");
}

TEST(EventSums, AddUpByKeys) {
  const Rows rows =
      sums_of("count by str(arg.name)", {sample_of(1, "a"), sample_of(2, "b"), sample_of(3, "a")});
  EXPECT_EQ(rows.size(), 2u);
  EXPECT_EQ(row_at(rows, std::string("a")).count, 2u);
  EXPECT_EQ(row_at(rows, std::string("b")).count, 1u);
}

TEST(EventSums, SumsOfOneValueAreOneRow) {
  const Rows rows =
      sums_of("sum(arg0), min(arg0), max(arg0)", {sample_of(-5, ""), sample_of(7, "")});
  ASSERT_EQ(rows.size(), 1u);
  const Row& row = rows.begin()->second;
  EXPECT_EQ(row.count, 2u);
  EXPECT_EQ(static_cast<int64_t>(row.sum), 2);
  EXPECT_EQ(static_cast<int64_t>(row.min), -5);
  EXPECT_EQ(static_cast<int64_t>(row.max), 7);
}

TEST(EventSums, CountHitsAndTimeEnds) {
  auto sums = EventSums::parse("count, time");
  ASSERT_TRUE(sums);
  for (const Event& event : {sample_of(1, ""), returned_after(100), returned_after(300)})
    sums->add(event);
  EXPECT_EQ(sums->hits(), 1u);
  ASSERT_EQ(sums->rows().size(), 2u);
  for (const auto& [key, row] : sums->rows()) {
    if (row.shape.kind == RowShape::Kind::count) {
      EXPECT_EQ(row.count, 1u);
    }
    if (row.shape.kind != RowShape::Kind::time) continue;
    EXPECT_EQ(row.count, 2u);
    EXPECT_EQ(row.sum, 400u);
    EXPECT_EQ(row.min, 100u);
    EXPECT_EQ(row.max, 300u);
  }
}

TEST(EventCondition, OfPartsOfADurationHoldsWhereTheyAreKnown) {
  Event event = returned_after(700);
  EXPECT_FALSE(holds("blocked >= 0", event));
  event.off_cpu = OffCpu{.runnable_ns = 100, .blocked_ns = 200};
  EXPECT_TRUE(holds("blocked == 200 && runnable == 100", event));
}

TEST(EventSums, HaveThePartsOfDurationsThatAreKnown) {
  Event event = returned_after(700);
  event.off_cpu = OffCpu{.runnable_ns = 100, .blocked_ns = 200};
  const Rows rows = sums_of("time, split", {event, event, returned_after(50)});
  const Row& row = rows.begin()->second;
  EXPECT_TRUE(row.shape.splits);
  EXPECT_EQ(row.count, 3u);
  EXPECT_EQ(row.split, 2u);
  EXPECT_EQ(row.running, 800u);
  EXPECT_EQ(row.runnable, 200u);
  EXPECT_EQ(row.blocked, 400u);
}

TEST(EventSums, CountUnwoundCallsBeside) {
  Event unwound = returned_after(50);
  unwound.kind = EventKind::unwound;
  const Rows rows = sums_of("time", {returned_after(100), unwound});
  EXPECT_EQ(rows.begin()->second.count, 1u);
  EXPECT_EQ(rows.begin()->second.unwound, 1u);
}

TEST(EventSums, TakeWhatTheConditionDoes) {
  auto sums = EventSums::parse("count by arg0", "arg0 > 1");
  ASSERT_TRUE(sums);
  for (const Event& event : {sample_of(1, ""), sample_of(2, "")}) sums->add(event);
  EXPECT_EQ(sums->rows().size(), 1u);
  EXPECT_EQ(sums->hits(), 2u);
  EXPECT_EQ(sums->filtered(), 1u);
}

TEST(EventSums, OfAConditionOnEndsCountEnds) {
  auto sums = EventSums::parse("count", "duration > 200");
  ASSERT_TRUE(sums);
  for (const Event& event : {sample_of(1, ""), returned_after(100), returned_after(300)})
    sums->add(event);
  EXPECT_EQ(sums->hits(), 2u);
  EXPECT_EQ(sums->filtered(), 1u);
  EXPECT_EQ(sums->rows().begin()->second.count, 1u);
}

TEST(EventSums, TellWhatCouldNotBeRead) {
  Event event = sample_of(1, "");
  event.args[0].reset();
  EXPECT_EQ(sums_of("hist(arg0)", {event}).begin()->second.unread, 1u);
}

TEST(EventSums, AreAllThatIsDone) {
  for (const char* actions : {"event", "count, stack", "count, limit(1)", "graph", "tag(\"a\")"})
    EXPECT_FALSE(EventSums::parse(actions)) << actions;
}

// ---- buckets ----

void expect_in_its_bucket(const RowShape& shape, uint64_t value) {
  const Bucket bucket = bucket_of(shape, bucket_number(shape, value));
  const auto less = [&](uint64_t a, uint64_t b) {
    return shape.is_unsigned ? a < b : static_cast<int64_t>(a) < static_cast<int64_t>(b);
  };
  EXPECT_TRUE(bucket.from_least || !less(value, bucket.low)) << value;
  EXPECT_TRUE(bucket.to_most || !less(bucket.high, value)) << value;
}

TEST(Buckets, HaveTheirValues) {
  RowShape log{.kind = RowShape::Kind::hist}, linear{.kind = RowShape::Kind::lhist};
  linear.low = -10;
  linear.high = 95;
  linear.step = 10;
  for (const bool is_unsigned : {false, true}) {
    log.is_unsigned = linear.is_unsigned = is_unsigned;
    for (unsigned bit = 0; bit < 64; ++bit)
      for (const int64_t beside : {-1, 0, 1}) {
        const uint64_t value = (uint64_t{1} << bit) + static_cast<uint64_t>(beside);
        expect_in_its_bucket(log, value);
        expect_in_its_bucket(log, ~value);
      }
  }
  linear.is_unsigned = false;
  for (int64_t value = -30; value < 130; ++value)
    expect_in_its_bucket(linear, static_cast<uint64_t>(value));
}

}  // namespace
}  // namespace tracectl
