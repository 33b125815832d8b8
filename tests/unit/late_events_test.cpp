// SPDX-License-Identifier: BSD-2-Clause
//
// Events that come late, such as those of calls that are kept until their end: a trace file has
// them in order of time nevertheless.
#include <gtest/gtest.h>

#include <algorithm>

#include "daemon/recording/encoder.h"
#include "daemon/recording/reader.h"
#include "daemon/stream/recorder.h"
#include "tests/support/recordings.h"

using namespace tracectl;
using namespace tracectl::recording;

namespace {

std::vector<StreamItem> events_at(std::initializer_list<uint64_t> times) {
  static const auto kSource =
      std::make_shared<const EventSource>(EventSource{"p", "s", {}, std::nullopt});
  std::vector<StreamItem> items;
  for (const uint64_t ts_ns : times) {
    Event event;
    event.source = kSource;
    event.ts_ns = ts_ns;
    items.push_back(std::move(event));
  }
  return items;
}

std::vector<BlockHeader> blocks_of(std::span<const StreamItem> items) {
  Encoder encoder;
  for (const StreamItem& item : items) encoder.add(item);
  encoder.end_all();
  std::vector<BlockHeader> headers;
  for (const Block& block : encoder.take())
    if (block.header.kind == BlockKind::events) headers.push_back(block.header);
  return headers;
}

std::string file_with(std::span<const StreamItem> items) {
  Fd file = memory_file();
  auto recorder = Recorder::start(copy_of(file), Compression::none);
  if (!recorder) return ADD_FAILURE() << recorder.error().message, "";
  (*recorder)->take(items);
  (*recorder)->end();
  EXPECT_TRUE((*recorder)->wait_ms(10'000));
  return bytes_of(file);
}

std::vector<uint64_t> times_in(const std::string& bytes, const TimeRange& range = {}) {
  std::vector<uint64_t> times;
  auto reader = Reader::open(file_of(bytes));
  if (!reader) return ADD_FAILURE() << reader.error().message, times;
  EXPECT_TRUE(reader->read(range, [&](const StreamItem& item) {
    times.push_back(std::get<Event>(item).ts_ns);
    return true;
  }));
  return times;
}

}  // namespace

TEST(LateEvents, BeginABlockOfTheirOwn) {
  const auto headers = blocks_of(events_at({100, 200, 300, 150, 250, 400}));
  ASSERT_EQ(headers.size(), 2u);
  EXPECT_EQ(headers[0].first_ns, 100u);
  EXPECT_EQ(headers[0].last_ns, 300u);
  EXPECT_EQ(headers[1].first_ns, 150u);
  EXPECT_EQ(headers[1].last_ns, 400u);
}

TEST(LateEvents, OfTheSameTimeAreNotLate) {
  EXPECT_EQ(blocks_of(events_at({100, 100, 100})).size(), 1u);
}

TEST(LateEvents, AreReadInTheOrderOfTime) {
  const auto times =
      times_in(file_with(events_at({100, 500, 200, 300, 600, 250, 260, 110, 120, 700, 105, 900})));
  EXPECT_EQ(times,
            (std::vector<uint64_t>{100, 105, 110, 120, 200, 250, 260, 300, 500, 600, 700, 900}));
}

TEST(LateEvents, AreInTheirTimeRange) {
  const std::string bytes = file_with(events_at({100, 500, 200, 300, 600, 250}));
  EXPECT_EQ(times_in(bytes, {200, 300}), (std::vector<uint64_t>{200, 250}));
  EXPECT_EQ(times_in(bytes, {501, 601}), (std::vector<uint64_t>{600}));
}

// Many threads whose calls are kept, one after the other; each overlaps with all others in time.
TEST(LateEvents, OfManyThatOverlapAreAllThere) {
  std::vector<uint64_t> all;
  std::vector<StreamItem> items;
  for (uint64_t thread = 0; thread < 200; ++thread)
    for (const auto& item : events_at({1000 + thread, 5000 + thread, 9000 + thread})) {
      items.push_back(item);
      all.push_back(std::get<Event>(item).ts_ns);
    }
  std::sort(all.begin(), all.end());
  EXPECT_EQ(times_in(file_with(items)), all);
}

// The reader does not scan this file as a whole.
TEST(LateEvents, AreFoundHoweverFarBehindTheyStand) {
  std::vector<StreamItem> items;
  std::vector<uint64_t> times;
  for (uint64_t i = 1; i <= 40'000; ++i) {
    times.push_back(i % 997 == 0 ? i / 2 * 10 + 5 : i * 10);
    items.push_back(events_at({times.back()}).front());
  }
  const std::string bytes = file_of_small_blocks(items);
  ASSERT_GT(bytes.size(), size_t{2} << 20);
  std::sort(times.begin(), times.end());
  EXPECT_EQ(times_in(bytes), times);
  const TimeRange range{100'000, 200'000};
  std::erase_if(times, [&](uint64_t ts) { return ts < range.from_ns || ts >= range.to_ns; });
  EXPECT_EQ(times_in(bytes, range), times);
}
