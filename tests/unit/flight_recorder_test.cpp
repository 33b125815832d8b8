// SPDX-License-Identifier: BSD-2-Clause
//
// The events that a flight recorder keeps, and the files written from it.
#include "daemon/stream/flight_recorder.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <thread>

#include "daemon/base/clock.h"
#include "daemon/stream/dump.h"
#include "tests/support/recordings.h"

using namespace tracectl;
using namespace tracectl::recording;

namespace {

constexpr uint64_t kBoundBytes = 1 << 20;

struct Dumped {
  Lines lines;
  Dump::State state;
  std::string bytes;
};

// Reads the dump like any reader of the file: nothing in it may be damaged.
Dumped dumped(FlightRecorder& recorder, Compression compression = Compression::none) {
  Fd file = memory_file();
  auto dump = Dump::start(copy_of(file), recorder.snapshot(), compression, "a test");
  if (!dump) return ADD_FAILURE() << dump.error().message, Dumped{};
  EXPECT_TRUE((*dump)->wait_ms(60'000));
  Dumped done{{}, (*dump)->state(), bytes_of(file)};
  EXPECT_EQ(done.state.phase, Dump::Phase::done);
  EXPECT_EQ(done.state.bytes, done.bytes.size());
  const ReadBack got = read_all(done.bytes);
  EXPECT_EQ(got.error, "");
  EXPECT_TRUE(is_whole(got.damage));
  EXPECT_EQ(got.reason, "a test");
  done.lines = got.lines;
  return done;
}

uint64_t count_events(std::span<const StreamItem> items) {
  return static_cast<uint64_t>(std::count_if(items.begin(), items.end(), [](const auto& item) {
    return std::holds_alternative<Event>(item);
  }));
}

Lines without_order(Lines lines) {
  std::sort(lines.begin(), lines.end());
  return lines;
}

// Expects these to be the last items, without gaps.
void expect_end_of(std::span<const StreamItem> items, const Lines& lines) {
  ASSERT_LE(lines.size(), items.size());
  EXPECT_EQ(without_order(lines), without_order(lines_of(items.last(lines.size()))));
}

void give(FlightRecorder& recorder, std::span<const StreamItem> items) {
  for (; !items.empty(); items = items.subspan(std::min<size_t>(items.size(), 100)))
    recorder.take(items.first(std::min<size_t>(items.size(), 100)));
}

}  // namespace

TEST(FlightRecorder, HasAllThatFits) {
  const auto items = RandomItems(1).make(5000);
  FlightRecorder recorder({.bytes = 64 << 20});
  give(recorder, items);
  const Dumped got = dumped(recorder);
  EXPECT_EQ(got.lines.size(), items.size());
  expect_end_of(items, got.lines);
  EXPECT_EQ(got.state.events, count_events(items));
  EXPECT_EQ(recorder.state().overwritten, 0u);
}

TEST(FlightRecorder, HasTheEndOfWhatDoesNotFit) {
  for (unsigned seed = 0; seed < 2; ++seed) {
    const auto items = RandomItems(seed).make(150'000);
    FlightRecorder recorder({.bytes = kBoundBytes});
    give(recorder, items);
    const Dumped got = dumped(recorder, seed % 2 ? Compression::zstd : Compression::none);
    expect_end_of(items, got.lines);
    EXPECT_LT(got.lines.size(), items.size() / 2);
    const FlightRecorder::State state = recorder.state();
    EXPECT_EQ(state.events, got.state.events);
    EXPECT_EQ(state.events + state.overwritten, count_events(items));
    EXPECT_EQ(state.lost, got.state.lost);
  }
}

// Also with definitions only: each event has a new text.
TEST(FlightRecorder, TakesNoMoreThanItsBound) {
  auto source = std::make_shared<const EventSource>(EventSource{"p", "s", {}});
  FlightRecorder recorder({.bytes = kBoundBytes});
  std::vector<StreamItem> items;
  for (unsigned i = 0; i < 100'000; ++i) {
    Event event;
    event.ts_ns = 1000 + i;
    event.cpu = i % 64;
    event.pid = event.tid = 1;
    event.source = source;
    event.tag = std::string(200, 'x') + std::to_string(i);
    items.emplace_back(event);
    recorder.take({&items.back(), 1});
    ASSERT_LE(recorder.state().bytes, kBoundBytes + 1024);
  }
  EXPECT_GT(recorder.state().bytes, kBoundBytes * 3 / 4);
  const Dumped got = dumped(recorder);
  EXPECT_GT(got.lines.size(), 2000u);
  expect_end_of(items, got.lines);
  uint64_t held = 0;
  for (const auto& extent : recorder.snapshot())
    for (const Block& block : extent->blocks) held += block.records.capacity();
  EXPECT_LE(held, kBoundBytes);
}

TEST(FlightRecorder, GoesOnWhileItIsDumped) {
  constexpr size_t kPart = 5000;
  const auto items = RandomItems(3).make(8 * kPart);
  const std::span all{items};
  FlightRecorder recorder({.bytes = kBoundBytes});
  for (size_t end = kPart; end <= items.size(); end += kPart) {
    give(recorder, all.subspan(end - kPart, kPart));
    expect_end_of(all.first(end), dumped(recorder).lines);
    const Lines again = dumped(recorder).lines;
    expect_end_of(all.first(end), again);
    EXPECT_GE(again.size(), kPart);
  }
}

TEST(FlightRecorder, IsDumpedByOneThreadWhileAnotherGives) {
  const auto items = RandomItems(4).make(60'000);
  FlightRecorder recorder({.bytes = kBoundBytes});
  std::thread giving([&] { give(recorder, items); });
  std::vector<Lines> snapshots;
  for (int i = 0; i < 10; ++i) snapshots.push_back(dumped(recorder).lines);
  giving.join();
  const Lines all = lines_of(items);
  for (const Lines& lines : snapshots) {
    if (lines.empty()) continue;
    // No item occurs twice, so the position of the last one shows where the others are.
    Lines ends = without_order(lines);
    const auto starts = [&](size_t end) {
      return end >= lines.size() &&
             without_order({all.begin() + static_cast<ptrdiff_t>(end - lines.size()),
                            all.begin() + static_cast<ptrdiff_t>(end)}) == ends;
    };
    const auto last = std::find(all.begin(), all.end(), lines.back());
    const auto end = static_cast<size_t>(last - all.begin()) + 1;
    bool is_unbroken = false;
    for (size_t at = end; at < std::min(end + 3, all.size() + 1); ++at) is_unbroken |= starts(at);
    EXPECT_TRUE(is_unbroken);
  }
}

TEST(FlightRecorder, ByTimeForgetsWhatIsOlder) {
  constexpr uint64_t kSpanNs = 1'000'000'000;
  auto source = std::make_shared<const EventSource>(EventSource{"p", "s", {}});
  FlightRecorder recorder({.bytes = kBoundBytes, .ns = kSpanNs});
  // Times in the future, so that only the events determine what is kept.
  const uint64_t begin_ns = boot_ns() + 3600 * kSpanNs;
  std::vector<StreamItem> items;
  for (unsigned i = 0; i < 1000; ++i) {
    Event event;
    event.ts_ns = begin_ns + i * (kSpanNs / 100);
    event.cpu = i % 3;
    event.pid = event.tid = 1;
    event.source = source;
    items.emplace_back(event);
  }
  give(recorder, items);
  const Dumped got = dumped(recorder);
  EXPECT_GE(got.lines.size(), 100u);
  EXPECT_LE(got.lines.size(), 100u + 100u / 8 + 1);
  expect_end_of(items, got.lines);
}

TEST(FlightRecorder, ByTimeHasNothingOfLongAgo) {
  FlightRecorder recorder({.bytes = kBoundBytes, .ns = 1000});
  give(recorder, RandomItems(5).make(100));
  EXPECT_TRUE(dumped(recorder).lines.empty());
  EXPECT_EQ(recorder.state().first_ns, 0u);
}

TEST(FlightRecorder, HasALossForAsLongAsItMayReachIntoWhatIsHeld) {
  constexpr uint64_t kBeginNs = 1000, kUntilNs = 60'000;
  auto source = std::make_shared<const EventSource>(EventSource{"p", "s", {}});
  FlightRecorder recorder({.bytes = kBoundBytes / 8});
  recorder.take(std::vector<StreamItem>{
      Lost{.ts_ns = kBeginNs, .count = 3, .cause = LossCause::slow_disk, .cpu = 1},
      Lost{.ts_ns = kBeginNs, .count = 7, .cpu = 0, .until_ns = kUntilNs}});
  bool was_carried = false;
  for (uint64_t ts_ns = kBeginNs; ts_ns < 2 * kUntilNs; ++ts_ns) {
    Event event;
    event.ts_ns = ts_ns;
    event.cpu = 1;
    event.pid = event.tid = 1;
    event.source = source;
    recorder.take(std::vector<StreamItem>{event});
    if (ts_ns % 5'000) continue;
    const Dumped got = dumped(recorder);
    const FlightRecorder::State state = recorder.state();
    ASSERT_LE(state.bytes, kBoundBytes / 8 + 1024);
    ASSERT_EQ(state.events, got.state.events);
    ASSERT_EQ(state.lost, got.state.lost);
    const bool is_first_extent_held = state.overwritten == 0;
    const uint64_t reaching = state.first_ns < kUntilNs ? 7 : 0;
    ASSERT_EQ(state.lost, is_first_extent_held ? 10 : reaching) << ts_ns;
    if (is_first_extent_held || !state.lost) continue;
    was_carried = true;
    ASSERT_EQ(got.lines.front(), line_of(Lost{.ts_ns = kBeginNs, .count = 7, .cpu = 0}));
  }
  EXPECT_TRUE(was_carried);
  EXPECT_EQ(recorder.state().lost, 0u);
}

TEST(FlightRecorder, ByTimeForgetsLossesOfLongAgo) {
  FlightRecorder recorder({.bytes = kBoundBytes, .ns = 1000});
  recorder.take(std::vector<StreamItem>{Lost{.ts_ns = 5, .count = 7, .cpu = 0, .until_ns = 9}});
  EXPECT_TRUE(dumped(recorder).lines.empty());
  EXPECT_EQ(recorder.state().lost, 0u);
}

TEST(Dump, ThatCannotBeWrittenSaysSoAndTheNextOneCan) {
  const auto items = RandomItems(6).make(20'000);
  FlightRecorder recorder({.bytes = 64 << 20});
  give(recorder, items);
  Fd file = memory_file();
  ASSERT_EQ(::fcntl(file.get(), F_ADD_SEALS, F_SEAL_GROW), 0);  // like a full disk
  auto dump = Dump::start(copy_of(file), recorder.snapshot(), Compression::none, "a test");
  ASSERT_TRUE(dump);
  ASSERT_TRUE((*dump)->wait_ms(60'000));
  EXPECT_EQ((*dump)->state().phase, Dump::Phase::failed);
  EXPECT_TRUE((*dump)->state().error);
  EXPECT_EQ((*dump)->state().events, 0u);
  EXPECT_EQ(dumped(recorder).lines.size(), items.size());
}
