// SPDX-License-Identifier: BSD-2-Clause
//
// Events on their way from rings to sinks that take hits, without the merger: they must be the same, and in the same
// order, as with the merger.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <latch>
#include <map>
#include <random>

#include "daemon/base/clock.h"
#include "daemon/object/own_stacks.h"
#include "daemon/protocol/events.h"
#include "daemon/recording/reader.h"
#include "daemon/stream/flight_recorder.h"
#include "daemon/stream/reader.h"
#include "daemon/stream/recorder.h"
#include "tests/support/must.h"

using namespace tracectl;
using on_kernel::must;

namespace {

constexpr uint32_t kSession = 1;
constexpr unsigned kCpus = 2;
constexpr uint32_t kNumbers = 1, kTexts = 2;  // sources
constexpr size_t kRingBytes = 1 << 20;

// The part of a BPF ring buffer's file that its reader sees (kernel/ring.h).
class MadeRing {
 public:
  MadeRing() : file_(::memfd_create("ring", MFD_CLOEXEC)) {
    EXPECT_EQ(::ftruncate(file_.get(), static_cast<off_t>(2 * page() + 2 * kRingBytes)), 0);
  }
  Fd file() const { return Fd{::fcntl(file_.get(), F_DUPFD_CLOEXEC, 0)}; }

  // Not visible before publish().
  void add(std::span<const std::byte> record) { submit(take_room(record.size()), record); }
  void publish() { write(page(), end_); }

  // Returns the place for a record. It is visible at once, as one that is still being written.
  uint64_t reserve(size_t size) {
    const uint64_t at = take_room(size);
    publish();
    return at;
  }
  void submit(uint64_t at, std::span<const std::byte> record) {
    put(data_at(at) + 8, record);
    write(data_at(at), static_cast<uint32_t>(record.size()));
  }

 private:
  static constexpr uint32_t kBusy = 1u << 31;

  static size_t page() { return static_cast<size_t>(::sysconf(_SC_PAGESIZE)); }
  static uint64_t data_at(uint64_t at) { return 2 * page() + at; }
  uint64_t take_room(size_t size) {
    const uint64_t at = end_;
    write(data_at(at), kBusy | static_cast<uint32_t>(size));
    end_ += (8 + size + 7) / 8 * 8;
    EXPECT_LE(end_, kRingBytes);
    return at;
  }
  template <class T> void write(uint64_t offset, T value) {
    put(offset, std::as_bytes(std::span(&value, 1)));
  }
  void put(uint64_t offset, std::span<const std::byte> bytes) {
    EXPECT_EQ(::pwrite(file_.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset)),
              static_cast<ssize_t>(bytes.size()));
  }

  Fd file_;
  uint64_t end_ = 0;
};

class Record {
 public:
  Record(uint64_t ts_ns, uint32_t source, std::vector<uint64_t> words)
      : bytes_(sizeof(tc_record) + words.size() * 8) {
    std::memcpy(bytes_.data() + sizeof(tc_record), words.data(), words.size() * 8);
    head().kind = TC_RECORD_HIT;
    head().ts_ns = ts_ns;
    head().epoch = 1;
    head().source = source;
    head().pid = head().tid = 7;
    head().arg_room = static_cast<uint8_t>(words.size());
    head().arg_count = source == kNumbers ? 2 : 1;
    head().arg_valid = 3;
    std::memcpy(head().comm, "main", 4);
  }
  tc_record& head() { return *reinterpret_cast<tc_record*>(bytes_.data()); }
  std::span<const std::byte> bytes() const { return bytes_; }
  uint64_t ts_ns() const { return reinterpret_cast<const tc_record*>(bytes_.data())->ts_ns; }

 private:
  std::vector<std::byte> bytes_;
};

Record plain(uint64_t ts_ns) { return Record(ts_ns, kNumbers, {ts_ns, 2}); }

// Everything that users see of an item.
std::string line(const StreamItem& item) {
  protocol::WallClock wall(0);
  if (const auto* event = std::get_if<Event>(&item)) return protocol::event_json(*event, wall);
  return protocol::lost_json(std::get<Lost>(item), "s");
}

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

// A session whose rings a test fills.
class Reading {
 public:
  explicit Reading(Subscriber sink) : reader_(must(EventReader::start(in_kernel_, symbols_))) {
    SessionRings files{{}, kRingBytes};
    for (const MadeRing& ring : rings) files.by_cpu.push_back(ring.file());
    must(reader_->open(kSession, std::move(files)));
    Argument number, text;
    text.is_string = true;
    add_source(kNumbers, {number, number});
    add_source(kTexts, {text});
    reader_->add_tag(kSession, 1, "blue");
    reader_->subscribe(kSession, std::move(sink));
  }
  EventReader& reader() { return *reader_; }
  // Publishes all of a ring at once.
  void add(const std::vector<std::pair<unsigned, Record>>& records) {
    for (const auto& [cpu, record] : records) rings[cpu].add(record.bytes());
    for (MadeRing& ring : rings) ring.publish();
  }
  void flush() { must(reader_->flush(kSession)); }
  void lose(unsigned cpu, uint64_t count) {
    __atomic_fetch_add(&losses_.at(kSession * kCpus + cpu).dropped, count, __ATOMIC_RELEASE);
  }

  MadeRing rings[kCpus];

 private:
  void add_source(uint32_t id, Arguments arguments) {
    reader_->add_source(kSession, id,
                        std::make_shared<const EventSource>(
                            EventSource{"p" + std::to_string(id), "s", std::move(arguments)}));
  }

  // The memory that programs would share.
  std::vector<tc_ring_loss> losses_ = std::vector<tc_ring_loss>(TC_MAX_SESSIONS * kCpus);
  std::vector<tc_own_tag> own_tags_ = std::vector<tc_own_tag>(TC_OWN_TAGS);
  __u32 reader_sleeps_ = 0;
  Rings in_kernel_{
      -1, kCpus, {.losses = losses_, .own_tags = own_tags_, .reader_sleeps = reader_sleeps_}};
  Symbolizer symbols_{std::make_unique<OwnStacks>()};
  std::unique_ptr<EventReader> reader_;
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
template <class Sink>
std::shared_ptr<Sink> taken_of(const std::vector<std::pair<unsigned, Record>>& records) {
  auto sink = std::make_shared<Sink>();
  Reading reading(sink);
  reading.add({{0, plain(1)}});
  sink->held.wait_until_stopped();
  reading.add(records);
  sink->held.go_on();
  reading.flush();
  return sink;
}

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
LinesByCpu merged(const std::vector<std::pair<unsigned, Record>>& records) {
  auto sink = std::make_shared<Merged>();
  Reading reading(sink);
  reading.add(records);
  reading.flush();
  return sink->lines;
}

LinesByCpu recorded_of(const std::vector<std::pair<unsigned, Record>>& records) {
  Recording recording;
  recording.reading.add(records);
  return recording.end();
}

// Includes all kinds of records that are not handled like a plain hit.
Record random_record(std::mt19937_64& random, uint64_t ts_ns) {
  Record record =
      random() % 3 ? plain(ts_ns) : Record(ts_ns, kTexts, std::vector<uint64_t>(8, 'x'));
  const auto one_in = [&](uint64_t n) { return random() % n == 0; };
  if (one_in(5)) record.head().tag = 1;
  if (one_in(5)) record.head().arg_valid = 1;
  if (one_in(5)) record.head().tid = 8;
  if (one_in(9)) record.head().source = 99;  // unknown
  if (one_in(9)) record.head().epoch = 2;
  if (one_in(9)) record.head().kind = 77;
  if (one_in(9)) record.head().arg_count = 1;
  return record;
}

}  // namespace

TEST(WayPastMerger, BringsWhatTheMergerWould) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 20; ++round) {
    std::vector<std::pair<unsigned, Record>> records;
    uint64_t dropped[2] = {};
    for (uint64_t ts_ns = 1000; ts_ns < 1500; ++ts_ns) {
      const unsigned cpu = random() % 2;
      Record record = random_record(random, ts_ns);
      record.head().ring_dropped = dropped[cpu] += random() % 20 == 0 ? random() % 9 : 0;
      records.emplace_back(cpu, std::move(record));
    }
    const LinesByCpu lines = recorded_of(records);
    EXPECT_EQ(lines, merged(records)) << round;
    EXPECT_GT(lines.at(0).size() + lines.at(1).size(), 300u);
  }
}

// The order of records if a program was preempted between reserving its record and reading the
// clock.
TEST(WayPastMerger, IsNotTakenByARingOutOfOrder) {
  std::vector<std::pair<unsigned, Record>> records;
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

TEST(WayPastMerger, BringsOneOrderAsTheMergerWould) {
  std::mt19937_64 random(2);
  size_t plain_hits = 0;
  for (int round = 0; round < 20; ++round) {
    std::vector<std::pair<unsigned, Record>> records;
    uint64_t dropped[2] = {};
    for (uint64_t ts_ns = 1000; ts_ns < 1500; ++ts_ns) {
      const unsigned cpu = random() % 2;
      Record record = random_record(random, ts_ns);
      // A record that cannot be decoded may bring the report of a loss, or not.
      const bool may_report = record.head().source != 99 && record.head().kind != 77;
      if (may_report && random() % 20 == 0) dropped[cpu] += random() % 9;
      record.head().ring_dropped = dropped[cpu];
      records.emplace_back(cpu, std::move(record));
    }
    const auto straight = taken_of<HeldHitLines>(records);
    EXPECT_EQ(straight->lines, taken_of<HeldMergedLines>(records)->lines) << round;
    EXPECT_GT(straight->lines.size(), 300u);
    plain_hits += straight->plain_hits;
  }
  EXPECT_GT(plain_hits, 1000u);
}

TEST(WayPastMerger, OfOneOrderIsNotTakenBesideARingOutOfOrder) {
  std::vector<std::pair<unsigned, Record>> records;
  for (const uint64_t ts_ns : {100, 300, 200, 400, 150, 500}) records.emplace_back(0, plain(ts_ns));
  for (const uint64_t ts_ns : {120, 250, 450}) records.emplace_back(1, plain(ts_ns));
  const auto straight = taken_of<HeldHitLines>(records);
  EXPECT_EQ(straight->lines, taken_of<HeldMergedLines>(records)->lines);
  EXPECT_EQ(straight->lines.size(), 1 + records.size());
}

// A program that was preempted while it wrote its record must not make other CPUs lose theirs.
TEST(WayPastMerger, OfOneOrderDoesNotLetAnotherRingFill) {
  auto sink = std::make_shared<HitLines>();
  Reading reading(sink);
  const size_t size = plain(0).bytes().size();
  reading.rings[0].reserve(size);
  std::vector<std::pair<unsigned, Record>> records;
  for (uint64_t i = 0; i < kRingBytes * 3 / 4 / (size + 8); ++i) records.emplace_back(1, plain(i));
  reading.add(records);
  while (reading.reader().stats().events < records.size()) ::usleep(100);
}

TEST(WayPastMerger, OfOneOrderWaitsForARecordThatIsStillBeingWritten) {
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
