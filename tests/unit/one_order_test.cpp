// SPDX-License-Identifier: BSD-2-Clause
//
// Events of several rings on their way to sinks that take hits in one order of all CPUs, without the merger: the order
// must be the merger's.
#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <memory>
#include <random>

#include "daemon/base/clock.h"
#include "tests/support/made_rings.h"

using namespace tracectl;
using namespace tracectl::made;

namespace {

// Everything in the order of all CPUs.
using Lines = std::vector<std::string>;

void add_line(Lines& lines, const StreamItem& item) { lines.push_back(line(item)); }

class MergedLines : public EventSink {
 public:
  void take(std::span<const StreamItem> items) override {
    for (const StreamItem& item : items) add_line(lines, item);
  }
  Lines lines;
};

class HitLines : public HitSink {
 public:
  void take(std::span<const StreamItem> items) override {
    for (const StreamItem& item : items) add_line(lines, item);
  }
  void take(std::span<const PlainHit> hits) override {
    plain_hits += hits.size();
    for (const PlainHit& hit : hits) add_line(lines, event_of(hit));
  }
  bool needs_one_order() const override { return true; }
  Lines lines;
  size_t plain_hits = 0;
};

// Stops the reader at its first item, so that it sees all that is added meanwhile at once.
class Held {
 public:
  void stop() {
    if (!is_first_.exchange(false)) return;
    stopped_.count_down();
    goes_on_.wait();
  }
  void wait_until_stopped() { stopped_.wait(); }
  void go_on() { goes_on_.count_down(); }

 private:
  std::atomic<bool> is_first_{true};
  std::latch stopped_{1}, goes_on_{1};
};

class HeldMergedLines final : public MergedLines {
 public:
  void take(std::span<const StreamItem> items) override {
    held.stop();
    MergedLines::take(items);
  }
  Held held;
};

class HeldHitLines final : public HitLines {
 public:
  void take(std::span<const StreamItem> items) override {
    held.stop();
    HitLines::take(items);
  }
  void take(std::span<const PlainHit> hits) override {
    held.stop();
    HitLines::take(hits);
  }
  Held held;
};

// What the sink gets of records that the reader sees at once, after a first one.
template <class Sink> std::shared_ptr<Sink> taken_of(const CpuRecords& records) {
  auto sink = std::make_shared<Sink>();
  Reading reading(sink);
  reading.add({{0, plain(1)}});
  sink->held.wait_until_stopped();
  reading.add(records);
  sink->held.go_on();
  reading.flush();
  return sink;
}

}  // namespace

TEST(OneOrder, IsTheMergers) {
  std::mt19937_64 random(2);
  size_t plain_hits = 0;
  for (int round = 0; round < 20; ++round) {
    // A record that cannot be decoded may bring the report of a loss, or not.
    const CpuRecords records = random_records(random, [](Record& record) {
      return record.head().source != 99 && record.head().kind != 77;
    });
    const auto straight = taken_of<HeldHitLines>(records);
    EXPECT_EQ(straight->lines, taken_of<HeldMergedLines>(records)->lines) << round;
    EXPECT_GT(straight->lines.size(), 300u);
    plain_hits += straight->plain_hits;
  }
  EXPECT_GT(plain_hits, 1000u);
}

TEST(OneOrder, IsTheMergersBesideARingOutOfOrder) {
  CpuRecords records;
  for (const uint64_t ts_ns : {100, 300, 200, 400, 150, 500}) records.emplace_back(0, plain(ts_ns));
  for (const uint64_t ts_ns : {120, 250, 450}) records.emplace_back(1, plain(ts_ns));
  const auto straight = taken_of<HeldHitLines>(records);
  EXPECT_EQ(straight->lines, taken_of<HeldMergedLines>(records)->lines);
  EXPECT_EQ(straight->lines.size(), 1 + records.size());
}

// A program that was preempted while it wrote its record must not make other CPUs lose theirs.
TEST(OneOrder, DoesNotLetAnotherRingFill) {
  auto sink = std::make_shared<HitLines>();
  Reading reading(sink);
  const size_t size = plain(0).bytes().size();
  reading.rings[0].reserve(size);
  CpuRecords records;
  for (uint64_t i = 0; i < kRingBytes * 3 / 4 / (size + 8); ++i) records.emplace_back(1, plain(i));
  reading.add(records);
  while (reading.reader().stats().events < records.size()) ::usleep(100);
}

TEST(OneOrder, WaitsForARecordThatIsStillBeingWritten) {
  auto sink = std::make_shared<HitLines>();
  Reading reading(sink);
  EventReader& reader = reading.reader();
  const uint64_t place = reading.rings[0].reserve(plain(0).bytes().size());
  const Record first = plain(boot_ns()), second = plain(first.ts_ns() + 1);
  reading.add({{1, second}});
  // It looks many times before it sleeps.
  const uint64_t sleeps = reader.stats().sleeps;
  while (reader.stats().sleeps < sleeps + 2) ::usleep(100);
  reading.rings[0].submit(place, first.bytes());
  reading.flush();
  Lines merged = taken_of<HeldMergedLines>({{0, first}, {1, second}})->lines;
  merged.erase(merged.begin());  // the one that holds the reader
  EXPECT_EQ(sink->lines, merged);
  EXPECT_EQ(sink->plain_hits, 2u);
}
