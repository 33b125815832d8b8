// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/control/row_parts.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "daemon/protocol/codec.h"
#include "daemon/protocol/messages.h"

using namespace tracectl;
using namespace tracectl::protocol;
using nlohmann::json;

namespace {

json only_row(const RowKey& key, const Row& row) {
  auto parts = parts_of(Rows{{key, row}});
  EXPECT_EQ(parts.size(), 1u);
  return to_json(parts.front()).value();
}

uint64_t bits(int64_t value) { return static_cast<uint64_t>(value); }

Row sums(bool is_unsigned, uint64_t count, uint64_t sum, uint64_t min, uint64_t max) {
  Row row;
  row.shape = {.kind = RowShape::Kind::sums,
               .of = "arg0",
               .is_unsigned = is_unsigned,
               .sum = true,
               .avg = true,
               .min = true,
               .max = true};
  row.count = count;
  row.sum = sum;
  row.min = min;
  row.max = max;
  return row;
}

Row histogram(RowShape::Kind kind, bool is_unsigned, std::map<unsigned, uint64_t> buckets) {
  Row row;
  row.shape = {.kind = kind, .of = "arg0", .is_unsigned = is_unsigned};
  row.buckets = std::move(buckets);
  return row;
}

}  // namespace

TEST(RowParts, ACountHasNothingElse) {
  Row row;
  row.count = 80;
  EXPECT_EQ(only_row({"u:/x:f"}, row), json::parse(R"({"probe":"u:/x:f","count":80})"));
  EXPECT_EQ(only_row({"u:/x:f", "count", {{"tid", int64_t{7}}}}, row),
            json::parse(R"({"probe":"u:/x:f","by":{"tid":7},"count":80})"));
}

TEST(RowParts, KeysAreOfAnyKindAndNullWhereTheyCouldNotBeRead) {
  Row row;
  row.count = 1;
  const json part = only_row(
      {"p",
       "count",
       {{"str(arg0)", std::string{"a\"b"}}, {"arg1", UINT64_MAX}, {"u32(arg2)", std::monostate{}}}},
      row);
  EXPECT_EQ(part["by"]["str(arg0)"], "a\"b");
  EXPECT_EQ(part["by"]["arg1"], UINT64_MAX);
  EXPECT_TRUE(part["by"]["u32(arg2)"].is_null());
  EXPECT_EQ(part["by"].size(), 3u);
}

TEST(RowParts, SumsAreExactInTheirSignAndAnAverageHasAFraction) {
  const json below = only_row({"p"}, sums(false, 2, bits(-5), bits(-4), bits(-1)));
  EXPECT_EQ(below["of"], "arg0");
  EXPECT_EQ(below["sum"], -5);
  EXPECT_EQ(below["avg"], -2.5);
  EXPECT_EQ(below["min"], -4);
  EXPECT_EQ(below["max"], -1);
  const json high = only_row({"p"}, sums(true, 1, UINT64_MAX, UINT64_MAX, UINT64_MAX));
  EXPECT_EQ(high["sum"], UINT64_MAX);
  EXPECT_EQ(high["min"], UINT64_MAX);
}

TEST(RowParts, OfTheSumsThoseThatWereAskedForAreThere) {
  Row row = sums(false, 2, 10, 4, 6);
  row.shape.sum = row.shape.avg = row.shape.min = false;
  EXPECT_EQ(only_row({"p"}, row), json::parse(R"({"probe":"p","of":"arg0","count":2,"max":6})"));
}

TEST(RowParts, WithoutAValueThereIsASumAndNothingElse) {
  Row row = sums(false, 0, 0, 0, 0);
  row.unread = 3;
  EXPECT_EQ(only_row({"p"}, row),
            json::parse(R"({"probe":"p","of":"arg0","count":0,"sum":0,"unread":3})"));
}

TEST(RowParts, Log2BucketsHaveBoundsThatBelongToThem) {
  const json hist =
      only_row({"p"}, histogram(RowShape::Kind::hist, false,
                                {{0, 1}, {1, 2}, {2, 3}, {6, 4}, {7, 0}, {64, 5}}))["hist"];
  EXPECT_EQ(hist, json::parse(R"([{"max":-1,"count":1},{"min":0,"max":0,"count":2},
      {"min":1,"max":1,"count":3},{"min":16,"max":31,"count":4},
      {"min":4611686018427387904,"count":5}])"));
}

TEST(RowParts, PartsOfTimesAreShownIfTheyWereAskedFor) {
  Row row{.shape = {.kind = RowShape::Kind::time, .is_unsigned = true},
          .count = 3,
          .split = 2,
          .running = 5,
          .runnable = 6,
          .blocked = 7,
          .sum = 20};
  EXPECT_FALSE(only_row({"p"}, row).contains("running"));
  row.shape.splits = true;
  const json part = only_row({"p"}, row);
  EXPECT_EQ(part["running"], 5);
  EXPECT_EQ(part["runnable"], 6);
  EXPECT_EQ(part["blocked"], 7);
  EXPECT_EQ(part["unsplit"], 1);
  row.count = 2;
  EXPECT_FALSE(only_row({"p"}, row).contains("unsplit"));
}

TEST(RowParts, LinearBucketsEndWhereTheyWereToldTo) {
  Row row = histogram(RowShape::Kind::lhist, false, {{0, 1}, {1, 2}, {3, 3}, {4, 4}});
  row.shape.low = -10;
  row.shape.high = 15;
  row.shape.step = 10;
  const json part = only_row({"p"}, row);
  EXPECT_EQ(part["step"], 10);
  EXPECT_EQ(part["hist"], json::parse(R"([{"max":-11,"count":1},{"min":-10,"max":-1,"count":2},
      {"min":10,"max":14,"count":3},{"min":15,"count":4}])"));
}

// The bounds of a linear histogram are signed, as the user gave them, even for unsigned values.
TEST(RowParts, LinearBucketsOfUnsignedValuesCanBeginBelowZero) {
  Row row = histogram(RowShape::Kind::lhist, true, {{1, 2}, {12, 3}});
  row.shape.low = -5;
  row.shape.high = 100;
  row.shape.step = 10;
  // Compared as text, because to the library -5 equals 2^64 - 5.
  EXPECT_EQ(only_row({"p"}, row)["hist"].dump(),
            R"([{"count":2,"max":4,"min":-5},{"count":3,"min":100}])");
}

TEST(RowParts, LinearBucketsOfAllThereIsDoNotWrap) {
  Row row = histogram(RowShape::Kind::lhist, false, {{1, 1}, {3, 2}, {4, 3}});
  row.shape.low = -INT64_MAX;
  row.shape.high = INT64_MAX;
  row.shape.step = 9'000'000'000'000'000'000;
  EXPECT_EQ(only_row({"p"}, row)["hist"],
            json::parse(R"([{"min":-9223372036854775807,"max":-223372036854775808,"count":1},
      {"min":8776627963145224193,"max":9223372036854775806,"count":2},
      {"min":9223372036854775807,"count":3}])"));
}

TEST(RowParts, TheDearestComeFirstThenByName) {
  Row few, many;
  few.count = 1;
  many.count = 2;
  const auto parts = parts_of(Rows{{{"b"}, few},
                                   {{"a", "count", {{"tid", int64_t{9}}}}, few},
                                   {{"a", "count", {{"tid", int64_t{8}}}}, few},
                                   {{"z"}, many}});
  ASSERT_EQ(parts.size(), 4u);
  EXPECT_EQ(parts[0].probe, "z");
  EXPECT_EQ(std::get<int64_t>(parts[1].by->at("tid")), 8);
  EXPECT_EQ(std::get<int64_t>(parts[2].by->at("tid")), 9);
  EXPECT_EQ(parts[3].probe, "b");
}

TEST(RowParts, WhatIsWrittenReadsBackAsTheSame) {
  for (const Row& row : {sums(false, 2, bits(-5), bits(-4), bits(-1)),
                         histogram(RowShape::Kind::hist, true, {{1, 1}, {65, 2}})}) {
    const json written = only_row({"p", "a", {{"comm", std::string{"x"}}}}, row);
    auto read = from_json<RowPart>(written);
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(to_json(*read).value(), written);
  }
}

TEST(RowParts, StacksAndCallersAreMembersOfTheirOwn) {
  Frame frame;
  frame.module = "/x";
  frame.offset = 16;
  frame.function = "f";
  const Stack stack{.by = StackBy::frame_pointers, .end = StackEnd::limit, .frames = {frame}};
  const json row =
      only_row({"p", "count", {{"stack(1)", stack}, {"tid", int64_t{7}}}}, {.count = 2});
  EXPECT_EQ(row["by"], (json{{"tid", 7}}));
  EXPECT_EQ(row["stack"][0]["function"], "f");
  EXPECT_FALSE(row["stack"][0].contains("address"));
  EXPECT_EQ(row["stack_end"], "limit");
  const json called = only_row({"p", "count", {{"caller", stack}}}, {.count = 2});
  EXPECT_EQ(called["caller"]["offset"], 16);
  EXPECT_FALSE(called.contains("stack"));
  // A value that could not be read is a key, too.
  const json unread = only_row({"p", "count", {{"caller", std::monostate{}}}}, {.count = 2});
  EXPECT_TRUE(unread["by"]["caller"].is_null());
}
