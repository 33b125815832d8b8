// SPDX-License-Identifier: BSD-2-Clause
//
// Events on their way from rings to sinks that take hits, without the merger: they must be the same, and in the same
// order, as with the merger.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "daemon/base/clock.h"
#include "daemon/recording/reader.h"
#include "daemon/stream/flight_recorder.h"
#include "daemon/stream/recorder.h"
#include "tests/support/made_rings.h"

using namespace tracectl;
using namespace tracectl::made;

namespace {

using LinesByCpu = std::map<unsigned, std::vector<std::string>>;

void add_line(LinesByCpu& lines, const StreamItem& item) {
  const auto* event = std::get_if<Event>(&item);
  lines[event ? event->cpu : *std::get<Lost>(item).cpu].push_back(line(item));
}

class Merged final : public EventSink {
 public:
  void take(std::span<const StreamItem> items) override {
    for (const StreamItem& item : items) add_line(lines, item);
  }
  LinesByCpu lines;
};

// Records a test's rings into a file.
class Recording {
 public:
  Recording()
      : file_(::memfd_create("recording", MFD_CLOEXEC)),
        recorder_(must(Recorder::start(Fd{::fcntl(file_.get(), F_DUPFD_CLOEXEC, 0)},
                                       recording::Compression::none))),
        reading(recorder_) {}

  LinesByCpu end() {
    reading.flush();
    recorder_->end();
    EXPECT_TRUE(recorder_->wait_ms(10'000));
    LinesByCpu lines;
    auto reader = must(recording::Reader::open(std::move(file_)));
    must(reader.read({}, [&](const StreamItem& item) { return add_line(lines, item), true; }));
    return lines;
  }

 private:
  Fd file_;
  std::shared_ptr<Recorder> recorder_;

 public:
  Reading reading;
};

// The same through the merger.
LinesByCpu merged(const CpuRecords& records) {
  auto sink = std::make_shared<Merged>();
  Reading reading(sink);
  reading.add(records);
  reading.flush();
  return sink->lines;
}

LinesByCpu recorded_of(const CpuRecords& records) {
  Recording recording;
  recording.reading.add(records);
  return recording.end();
}

}  // namespace

TEST(WayPastMerger, BringsWhatTheMergerWould) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 20; ++round) {
    const CpuRecords records = random_records(random, [](Record&) { return true; });
    const LinesByCpu lines = recorded_of(records);
    EXPECT_EQ(lines, merged(records)) << round;
    EXPECT_GT(lines.at(0).size() + lines.at(1).size(), 300u);
  }
}

// The order of records if a program was preempted between reserving its record and reading the
// clock.
TEST(WayPastMerger, IsNotTakenByARingOutOfOrder) {
  CpuRecords records;
  for (const uint64_t ts_ns : {100, 300, 200, 400, 150, 500}) records.emplace_back(0, plain(ts_ns));
  records.emplace_back(1, plain(120));
  const LinesByCpu lines = recorded_of(records);
  std::stable_sort(records.begin(), records.end(), [](const auto& a, const auto& b) {
    return a.second.ts_ns() < b.second.ts_ns();
  });
  EXPECT_EQ(lines, merged(records));
}

TEST(WayPastMerger, IsNotTakenBesideARecordThatIsStillBeingWritten) {
  Recording recording;
  MadeRing& ring = recording.reading.rings[0];
  const size_t size = plain(0).bytes().size();
  const uint64_t first = ring.reserve(size), second = ring.reserve(size);
  const uint64_t now_ns = boot_ns();
  const Record late = plain(now_ns + 1), early = plain(now_ns);
  ring.submit(first, late.bytes());
  while (recording.reading.reader().stats().events == 0) ::usleep(100);
  ring.submit(second, early.bytes());
  EXPECT_EQ(recording.end(), merged({{0, early}, {0, late}}));
}

// A reader of the beginning of a stream must see all losses in it, from every ring.
template <class Base> class LossPlaces : public Base {
 public:
  void take(std::span<const StreamItem> items) override {
    for (const StreamItem& item : items) lost.push_back(std::holds_alternative<Lost>(item));
  }
  std::vector<bool> lost;
};
class LossPlacesOfMerger final : public LossPlaces<EventSink> {};
class LossPlacesBesideHits final : public LossPlaces<HitSink> {
 public:
  using LossPlaces::take;
  void take(std::span<const PlainHit> hits) override {
    lost.insert(lost.end(), hits.size(), false);
  }
  bool needs_one_order() const override { return true; }
};

template <class Sink> void expect_losses_first() {
  auto sink = std::make_shared<Sink>();
  Reading reading(sink);
  for (const unsigned cpu : {0, 1}) {
    reading.flush();
    reading.lose(1 - cpu, 5);
    reading.add({{cpu, plain(boot_ns())}});
    reading.flush();
    EXPECT_EQ(sink->lost, (std::vector<bool>{true, false})) << cpu;
    sink->lost.clear();
  }
}

TEST(Losses, StandBeforeWhatOtherRingsHaveBroughtSince) {
  expect_losses_first<LossPlacesOfMerger>();
  expect_losses_first<LossPlacesBesideHits>();
}

// A ring is full while another brings events, of which the recorder drops the first. A program that has moved between
// the two CPUs lacks events between those that the recorder still has.
TEST(Losses, ThatGoOnBetweenHeldEventsAreHeld) {
  constexpr uint64_t kLost = 1000;
  auto recorder = std::make_shared<FlightRecorder>(FlightRecorder::Bound{.bytes = 16 << 10});
  Reading reading(recorder);
  const Record first = plain(boot_ns());
  const uint64_t place = reading.rings[0].reserve(first.bytes().size());
  for (int i = 0; i < 5000; ++i) reading.add({{1, plain(boot_ns())}});
  const uint64_t begin_ns = boot_ns();
  reading.lose(0, kLost);
  reading.add({{1, plain(boot_ns())}});
  reading.rings[0].submit(place, first.bytes());
  reading.flush();
  const FlightRecorder::State state = recorder->state();
  EXPECT_GT(state.overwritten, 0u);
  EXPECT_GT(state.events, 1u);
  EXPECT_LT(state.first_ns, begin_ns);
  EXPECT_EQ(state.lost, kLost);
}
