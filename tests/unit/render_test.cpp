// SPDX-License-Identifier: BSD-2-Clause
//
// Results as shown to users: whole texts, as on a terminal.
#include <gtest/gtest.h>

#include "client/render/quantiles.h"
#include "client/render/row_order.h"
#include "client/render/rows.h"
#include "client/render/text.h"

using namespace tracectl;
using namespace tracectl::protocol;

namespace {

std::string text_of_rows(std::vector<RowPart> rows, uint64_t hits) {
  ReadReply reply;
  reply.rows = std::move(rows);
  reply.total_hits = hits;
  return rows_text(reply);
}

RowPart histogram(std::vector<BucketPart> buckets, std::optional<uint64_t> step = {}) {
  RowPart row{.probe = "uprobe:/x:f"};
  row.of = "arg0";
  row.count = 1;
  row.hist = std::move(buckets);
  row.step = step;
  return row;
}

std::string event_of(const Argument& type, std::vector<std::string> strings, Value value) {
  Event event;
  event.source = std::make_shared<EventSource>(EventSource{"u:/x:f", "s", {type}});
  event.args = {value};
  event.strings = std::move(strings);
  const std::string text = event_text(event, "u:/x:f", 0);
  return text.substr(text.find("u:/x:f"));
}

}  // namespace

TEST(EventText, ControlsNoTerminal) {
  Argument result{.place = Argument::Place::in_register, .kind = Argument::Kind::aggregate};
  result.is_string = true;
  Event event;
  event.kind = EventKind::returned;
  event.comm = "a\033[2J\nb";
  event.source = std::make_shared<EventSource>(EventSource{"u:/x:f", "s", {}, result});
  event.strings = {"{a\033[2J = 1}"};
  event.retval = 0;
  const std::string text = event_text(event, "u:/x:f", 0);
  EXPECT_EQ(text.find('\033'), std::string::npos) << text;
  EXPECT_EQ(text.find('\n'), text.size() - 1);
  EXPECT_NE(text.find("f() = {a?[2J = 1}"), std::string::npos) << text;
}

TEST(RowsText, CountsAreATableOfTheirOwn) {
  EXPECT_EQ(
      text_of_rows(
          {{.probe = "uprobe:/x:f", .count = 12}, {.probe = "uprobe:/x:longer", .count = 3}}, 15),
      "COUNT  PROBE\n"
      "   12  uprobe:x:f\n"
      "    3  uprobe:x:longer\n"
      "15 hits\n");
}

TEST(RowsText, NumbersOfKeysStandToTheRightAndTextsToTheLeftInQuotes) {
  EXPECT_EQ(text_of_rows({{.probe = "p",
                           .by = Named<Key>{{"str(arg0)", std::string{"a\x1b"}}, {"tid", 7ul}},
                           .count = 2},
                          {.probe = "p",
                           .by = Named<Key>{{"str(arg0)", std::monostate{}}, {"tid", 12345ul}},
                           .count = 1}},
                         3),
            "str(arg0)    TID  COUNT  PROBE\n"
            "\"a\\x1b\"        7      2  p\n"
            "?          12345      1  p\n"
            "3 hits\n");
}

TEST(RowsText, MoreRowsThanAreWantedAreTold) {
  ReadReply reply;
  for (uint64_t count : {9, 7, 5, 2}) reply.rows.push_back({.probe = "p", .count = count});
  reply.total_hits = 23;
  EXPECT_EQ(first_rows_text(reply, 2),
            "COUNT  PROBE\n"
            "    9  p\n"
            "    7  p\n"
            "2 more rows\n"
            "23 hits\n");
}

TEST(RowsText, RowsWithOtherColumnsHaveAnotherTable) {
  RowPart sums{.probe = "p", .count = 2};
  sums.of = "arg1 - arg0";
  sums.sum = int64_t{-5};
  sums.avg = -2.5;
  RowPart none = sums;
  none.probe = "q";
  none.count = 0;
  none.sum = int64_t{0};
  none.avg = std::nullopt;
  none.unread = 4;
  EXPECT_EQ(text_of_rows({{.probe = "p", .count = 2}, sums, none}, 6),
            "COUNT  PROBE\n"
            "    2  p\n"
            "\n"
            "arg1 - arg0:\n"
            "COUNT  SUM    AVG  PROBE\n"
            "    2   -5  -2.50  p\n"
            "    0    0         q\n"
            "6 hits, 4 values could not be read\n");
}

TEST(RowsText, WhatIsNotInTheTablesIsToldBelow) {
  ReadReply reply;
  reply.rows = {{.probe = "f", .count = 3}, {.probe = "g"}, {.probe = "h"}};
  reply.total_hits = 3;
  EXPECT_EQ(rows_text(reply), "COUNT  PROBE\n    3  f\n3 hits, 2 probes never hit\n");
  reply.total_hits = 10;
  reply.total_filtered = 7;
  reply.dropped_ring = 1;
  reply.dropped_keys = 2;
  EXPECT_EQ(rows_text(reply),
            "COUNT  PROBE\n    3  f\n10 hits, 7 filtered out, 2 probes with no hit taken, 1 events "
            "lost, 2 hits without a key\n");
}

TEST(Histogram, EmptyBucketsBetweenOthersAreShown) {
  EXPECT_EQ(text_of_rows({histogram({{.max = int64_t{-1}, .count = 1},
                                     {.min = 1ul, .max = 1ul, .count = 100},
                                     {.min = 1024ul, .max = 2047ul, .count = 50}})},
                         151),
            "arg0 at uprobe:x:f:\n"
            "(..., 0)      1  |                                        |\n"
            "[0]           0  |                                        |\n"
            "[1]         100  |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|\n"
            "[2, 4)        0  |                                        |\n"
            "[4, 8)        0  |                                        |\n"
            "[8, 16)       0  |                                        |\n"
            "[16, 32)      0  |                                        |\n"
            "[32, 64)      0  |                                        |\n"
            "[64, 128)     0  |                                        |\n"
            "[128, 256)    0  |                                        |\n"
            "[256, 512)    0  |                                        |\n"
            "[512, 1K)     0  |                                        |\n"
            "[1K, 2K)     50  |@@@@@@@@@@@@@@@@@@@@                    |\n"
            "151 hits\n");
}

TEST(Histogram, TheHighestBucketHasNoEnd) {
  EXPECT_EQ(text_of_rows(
                {histogram({{.min = uint64_t{1} << 62, .max = (uint64_t{1} << 63) - 1, .count = 1},
                            {.min = uint64_t{1} << 63, .count = 1}})},
                2),
            "arg0 at uprobe:x:f:\n"
            "[4E, 8E)   1  |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|\n"
            "[8E, ...)  1  |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|\n"
            "2 hits\n");
}

TEST(Histogram, ALinearOneHasPlainNumbersAndOneLineForEachGap) {
  RowPart row = histogram({{.max = int64_t{-11}, .count = 4},
                           {.min = int64_t{-10}, .max = int64_t{-1}, .count = 8},
                           {.min = int64_t{1020}, .max = int64_t{1029}, .count = 2},
                           {.min = int64_t{1030}, .count = 1}},
                          10);
  row.by = Named<Key>{{"comm", std::string{"x"}}};
  EXPECT_EQ(text_of_rows({row}, 15),
            "arg0 at uprobe:x:f, comm \"x\":\n"
            "(..., -10)    4  |@@@@@@@@@@@@@@@@@@@@                    |\n"
            "[-10, 0)      8  |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|\n"
            "[0, 1020)     0  |                                        |\n"
            "[1020, 1030)  2  |@@@@@@@@@@                              |\n"
            "[1030, ...)   1  |@@@@@                                   |\n"
            "15 hits\n");
}

TEST(EventText, StringsStandInQuotesWithoutWhatATerminalObeys) {
  Argument string;
  string.is_string = true;
  EXPECT_EQ(event_of(string, {"a \"b\" \x1b[2J"}, 0), "u:/x:f(\"a \\\"b\\\" \\x1b[2J\")\n");
  EXPECT_EQ(event_of(string, {}, std::nullopt), "u:/x:f(?)\n");
  EXPECT_EQ(event_of(string, {}, 3), "u:/x:f(?)\n");
}

TEST(RowsText, StacksStandBelowTheTablesUnderNumbers) {
  const FramePart leaf{.module = "/x", .offset = 1, .function = "leaf", .function_offset = 0};
  const FramePart main_{.module = "/x", .offset = 9, .function = "main", .function_offset = 4};
  const auto row = [&](uint64_t tid, uint64_t count, std::vector<FramePart> stack) {
    return RowPart{.probe = "p",
                   .by = Named<Key>{{"tid", tid}},
                   .stack = std::move(stack),
                   .stack_by = "frame_pointers",
                   .stack_end = "outermost",
                   .count = count};
  };
  EXPECT_EQ(
      text_of_rows({row(7, 9, {leaf, main_}), row(8, 5, {leaf}), row(9, 2, {leaf, main_})}, 16),
      "STACK  TID  COUNT  PROBE\n"
      "#1       7      9  p\n"
      "#2       8      5  p\n"
      "#1       9      2  p\n"
      "\n"
      "#1\n"
      "        leaf+0x0 (x)\n"
      "        main+0x4 (x)\n"
      "\n"
      "#2\n"
      "        leaf+0x0 (x)\n"
      "\n"
      "16 hits\n");
}

namespace {

RowPart times(const std::string& probe, uint64_t calls, uint64_t total, uint64_t self,
              uint64_t max) {
  RowPart row{.probe = probe, .count = calls};
  row.self = self;
  row.sum = total;
  row.min = uint64_t{1};
  row.max = max;
  row.hist = std::vector<BucketPart>{{.min = 1024ul, .max = 2047ul, .count = calls}};
  return row;
}

std::string order_of(RowOrder order) {
  std::vector<RowPart> rows{times("b", 3, 300, 30, 290),
                            {.probe = "counted"},
                            times("a", 4, 600, 10, 200),
                            times("c", 9, 450, 450, 50)};
  sort_rows(rows, order);
  std::string probes;
  for (const RowPart& row : rows) probes += row.probe + " ";
  return probes;
}

}  // namespace

TEST(RowOrder, IsByAColumnTheGreatestFirst) {
  EXPECT_EQ(order_of(RowOrder::total), "a c b counted ");
  EXPECT_EQ(order_of(RowOrder::calls), "c a b counted ");
  EXPECT_EQ(order_of(RowOrder::self), "c b a counted ");
  EXPECT_EQ(order_of(RowOrder::avg), "a b c counted ");
  EXPECT_EQ(order_of(RowOrder::min), "b a c counted ");
  EXPECT_EQ(order_of(RowOrder::max), "b a c counted ");
  EXPECT_EQ(order_of(RowOrder::name), "a b c counted ");
}

TEST(RowOrder, HasTheNameOfItsColumn) {
  EXPECT_EQ(row_order_named("self"), RowOrder::self);
  EXPECT_EQ(row_order_named("SELF"), std::nullopt);
  EXPECT_EQ(row_order_names(), "calls, total, self, avg, min, max, p50, p90, p99, name");
}

// 89 times in the first bucket, 10 in the second, 1 in the third.
RowPart times_in_buckets() {
  RowPart row = times("f", 100, 5000, 60, 290);
  row.hist = std::vector<BucketPart>{{.min = 64ul, .max = 127ul, .count = 89},
                                     {.min = 128ul, .max = 255ul, .count = 10},
                                     {.min = 256ul, .max = 511ul, .count = 1}};
  return row;
}

TEST(Quantile, IsTheEndOfItsBucketOrTheGreatestOfAll) {
  RowPart row = times_in_buckets();
  EXPECT_EQ(quantile_bound(row, 50), 127u);
  EXPECT_EQ(quantile_bound(row, 89), 127u);
  EXPECT_EQ(quantile_bound(row, 90), 255u);
  EXPECT_EQ(quantile_bound(row, 99), 255u);
  EXPECT_EQ(quantile_bound(row, 100), 290u);
  row.max.reset();
  EXPECT_EQ(quantile_bound(row, 100), 511u);
  row.hist->clear();
  EXPECT_EQ(quantile_bound(row, 50), std::nullopt);
  row.hist.reset();
  EXPECT_EQ(quantile_bound(row, 50), std::nullopt);
}

TEST(Quantile, IsAColumnAndAnOrder) {
  EXPECT_NE(text_of_rows({times_in_buckets()}, 1).find("<=127 ns  <=255 ns  <=255 ns  290 ns  f\n"),
            std::string::npos)
      << text_of_rows({times_in_buckets()}, 1);
  std::vector<RowPart> rows{times_in_buckets(), times_in_buckets()};
  rows[1].probe = "slow at times";
  rows[1].hist->at(1).count = 1;
  rows[1].hist->at(2).count = 10;
  sort_rows(rows, RowOrder::p99);
  EXPECT_EQ(rows[0].probe, "slow at times");
}

TEST(ShareOfProbes, IsAColumnWhereTheyTookMostOfTheTimeOfARow) {
  std::vector<RowPart> rows{times("f", 3, 300, 30, 290), times("g", 3, 300, 30, 290)};
  rows[0].probes = 300;
  EXPECT_EQ(text_of_rows(rows, 1).find("PROBES"), std::string::npos);
  rows[1].probes = 900;
  const std::string text = text_of_rows(rows, 1);
  EXPECT_NE(text.find("MAX  PROBES  "), std::string::npos) << text;
  EXPECT_NE(text.find("290 ns    50 %  f\n"), std::string::npos) << text;
  EXPECT_NE(text.find("290 ns    75 %  g\n"), std::string::npos) << text;
}

TEST(Histogram, OfDurationsHasUnitsOfTime) {
  const auto begin_of = [](RowPart row) {
    const std::string text = text_of_rows({std::move(row)}, 1);
    return text.substr(text.find('['), text.find(')') + 1 - text.find('['));
  };
  EXPECT_EQ(begin_of(times("f", 3, 300, 30, 290)), "[1.02 us, 2.05 us)");
  RowPart log2 =
      histogram({{.min = uint64_t{1} << 20, .max = (uint64_t{1} << 21) - 1, .count = 1}});
  EXPECT_EQ(begin_of(log2), "[1M, 2M)");
  log2.of = "duration";
  EXPECT_EQ(begin_of(log2), "[1.05 ms, 2.10 ms)");
  RowPart linear = histogram({{.min = 1500000ul, .max = 2000999ul, .count = 1}}, 501000);
  EXPECT_EQ(begin_of(linear), "[1500000, 2001000)");
  linear.of = "duration";
  EXPECT_EQ(begin_of(linear), "[1500 us, 2001 us)");
}

TEST(RowsText, ACallerIsAColumn) {
  RowPart row{.probe = "p", .count = 3};
  row.caller = FramePart{.module = "/x", .function = "main", .function_offset = 4};
  EXPECT_EQ(text_of_rows({row}, 3),
            "CALLER        COUNT  PROBE\n"
            "main+0x4 (x)      3  p\n"
            "3 hits\n");
}

TEST(Text, OneLineSaysWhyProbesAreNotArmed) {
  const auto refused = [](const char* probe, const char* reason) {
    return Refusal{.probe = probe, .offset = {}, .pid = {}, .reason = reason};
  };
  std::vector<Refusal> all{refused("a", "why"), refused("b", "other"), refused("c", "why")};
  all[1].pid = 7;
  EXPECT_EQ(refusals_text(all), "not armed: a, c: why\nnot armed: b in process 7: other\n");
  all.push_back(refused("d", "why"));
  all.push_back(refused("e", "why"));
  EXPECT_EQ(refusals_text(all),
            "not armed: 4 probes: a, c, d, ...: why\nnot armed: b in process 7: other\n");
  EXPECT_EQ(refusals_text({}), "");
}
