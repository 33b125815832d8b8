// SPDX-License-Identifier: BSD-2-Clause
//
// Trace files: everything written is read again, and after a crash nothing wrong is read.
#include "daemon/recording/reader.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <random>
#include <set>

#include "daemon/base/bytes.h"
#include "daemon/recording/encoder.h"
#include "daemon/recording/format.h"
#include "daemon/stream/recorder.h"
#include "tests/support/recordings.h"

using namespace tracectl;
using namespace tracectl::recording;

namespace {

// Items passed in one call and those of later calls are in different blocks.
std::string recorded(std::span<const StreamItem> items, Compression compression = Compression::none,
                     size_t recordings = 1) {
  Fd file = memory_file();
  auto recorder = Recorder::start(copy_of(file), compression);
  if (!recorder) return ADD_FAILURE() << recorder.error().message, "";
  for (size_t i = 0; i < recordings; ++i)
    (*recorder)->take(items.subspan(i * items.size() / recordings, items.size() / recordings));
  (*recorder)->end();
  EXPECT_TRUE((*recorder)->wait_ms(10'000));
  EXPECT_EQ((*recorder)->state().phase, Recorder::Phase::done);
  return bytes_of(file);
}

// The same lines sorted, because only each CPU's are in order.
Lines sorted(Lines lines) {
  std::sort(lines.begin(), lines.end());
  return lines;
}

// The number of events, including those reported as lost.
uint64_t given_in(std::span<const StreamItem> items) {
  uint64_t given = 0;
  for (const StreamItem& item : items) {
    const auto* lost = std::get_if<Lost>(&item);
    given += lost ? lost->count : 1;
  }
  return given;
}

// Whether `got` is `all` with some lines left out.
bool is_part_of(const Lines& got, const Lines& all) {
  size_t at = 0;
  for (const std::string& line : got) {
    while (at < all.size() && all[at] != line) ++at;
    if (at++ == all.size()) return false;
  }
  return true;
}

}  // namespace

TEST(Recording, IsReadAsItWasWritten) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    const auto items = RandomItems(seed).make(5000);
    const ReadBack got = read_all(recorded(items));
    EXPECT_EQ(got.error, "");
    EXPECT_TRUE(is_whole(got.damage));
    EXPECT_EQ(sorted(got.lines), sorted(lines_of(items))) << seed;
  }
}

// Records whose length takes one, two and three bytes.
TEST(Recording, HasRecordsOfAnyLength) {
  Argument text;
  text.is_string = true;
  const auto source =
      std::make_shared<const EventSource>(EventSource{"p", "s", {text}, std::nullopt});
  std::vector<StreamItem> items;
  for (const size_t size : {0, 100, 120, 121, 122, 123, 124, 125, 126, 127, 128, 300, 20'000}) {
    Event event;
    event.ts_ns = 1000 + items.size();
    event.source = source;
    event.args = {0};
    event.strings = {std::string(size, 'x')};
    items.push_back(std::move(event));
  }
  const ReadBack got = read_all(recorded(items));
  EXPECT_TRUE(is_whole(got.damage));
  EXPECT_EQ(got.lines, lines_of(items));
}

TEST(Recording, IsInOrderOfTime) {
  const auto items = RandomItems(1).make(20'000);
  auto reader = Reader::open(file_of(recorded(items)));
  ASSERT_TRUE(reader);
  uint64_t last_ns = 0, count = 0;
  const auto in_order = [&](const StreamItem& item) {
    const uint64_t ts_ns = std::visit([](const auto& part) { return part.ts_ns; }, item);
    EXPECT_GE(ts_ns, last_ns);
    last_ns = ts_ns;
    return ++count > 0;
  };
  ASSERT_TRUE(reader->read({}, in_order));
  EXPECT_EQ(count, items.size());
}

TEST(Recording, CompressedIsSmallerAndTheSame) {
  const auto items = RandomItems(2).make(20'000);
  const std::string plain = recorded(items), small = recorded(items, Compression::zstd);
  EXPECT_LT(small.size(), plain.size());
  EXPECT_EQ(read_all(small).lines, read_all(plain).lines);
}

TEST(Recording, OfATimeRangeHasThatOnly) {
  const auto items = RandomItems(3).make(2000);
  const auto ts = [&](size_t i) { return std::get<Event>(items[i]).ts_ns; };
  size_t from = 500, to = 1500;
  while (!std::holds_alternative<Event>(items[from])) ++from;
  while (!std::holds_alternative<Event>(items[to])) ++to;
  Lines wanted;
  for (const StreamItem& item : items) {
    const uint64_t at = std::visit([](const auto& part) { return part.ts_ns; }, item);
    if (at >= ts(from) && at < ts(to)) wanted.push_back(line_of(item));
  }
  EXPECT_EQ(sorted(read_all(recorded(items), {ts(from), ts(to)}).lines), sorted(wanted));
}

TEST(Recording, CutOffAnywhereLosesOnlyItsEnd) {
  const auto items = RandomItems(4).make(30);
  const std::string whole = file_of_small_blocks(items);
  const Lines all = read_all(whole).lines;
  ASSERT_EQ(sorted(all), sorted(lines_of(items)));
  size_t most = 0;
  for (size_t size = kFileHeaderBytes; size < whole.size(); ++size) {
    const ReadBack got = read_all(whole.substr(0, size));
    ASSERT_EQ(got.error, "") << size;
    ASSERT_LE(got.lines.size(), all.size());
    ASSERT_TRUE(is_part_of(got.lines, all)) << size;
    ASSERT_GE(got.lines.size(), most) << "more of the file, and less read: " << size;
    ASSERT_TRUE(got.lines.size() == most || got.lines.size() == most + 1) << size;
    most = got.lines.size();
  }
}

TEST(Recording, TornAnywhereGivesNothingWrong) {
  const auto items = RandomItems(5).make(30);
  const std::string whole = file_of_small_blocks(items);
  const Lines all = read_all(whole).lines;
  for (size_t at = kFileHeaderBytes; at < whole.size(); ++at) {
    for (const char bits : {'\x01', '\x80', '\xff'}) {
      std::string torn = whole;
      torn[at] = static_cast<char>(torn[at] ^ bits);
      const ReadBack got = read_all(torn);
      ASSERT_EQ(got.error, "") << at;
      ASSERT_TRUE(is_part_of(got.lines, all)) << at;
      ASSERT_LT(got.lines.size(), all.size() + 1) << at;
      ASSERT_FALSE(is_whole(got.damage)) << at;
    }
  }
}

// As after a power failure: pages that were not written are zeroes.
TEST(Recording, CutOffWhileItIsReadLosesOnlyItsEnd) {
  const auto items = RandomItems(12).make(30'000);
  const std::string bytes = file_of_small_blocks(items);
  Fd file = file_of(bytes);
  auto reader = Reader::open(copy_of(file));
  ASSERT_TRUE(reader);
  ASSERT_EQ(::ftruncate(file.get(), static_cast<off_t>(bytes.size() / 2)), 0);
  uint64_t read = 0;
  EXPECT_TRUE(reader->read({}, [&](const StreamItem&) { return ++read; }));
  EXPECT_GT(read, items.size() / 4);
  EXPECT_EQ(read + reader->damage().records, items.size());
  EXPECT_EQ(read + reader->damage().blocks, items.size());
}

TEST(Recording, EventsOfOneStackShareIt) {
  auto items = RandomItems(13).make(100);
  Stack walked{StackBy::unwind_tables, StackEnd::outermost, {}};
  walked.frames.emplace_back().address = 4096;
  const auto stack = std::make_shared<const Stack>(std::move(walked));
  for (StreamItem& item : items)
    if (auto* event = std::get_if<Event>(&item)) event->stack = stack;
  auto reader = Reader::open(file_of(file_of_small_blocks(items)));
  ASSERT_TRUE(reader);
  std::set<std::shared_ptr<const Stack>> stacks;
  ASSERT_TRUE(reader->read({}, [&](const StreamItem& item) {
    if (const auto* event = std::get_if<Event>(&item)) stacks.insert(event->stack);
    return true;
  }));
  ASSERT_EQ(stacks.size(), 1u);
  EXPECT_EQ(**stacks.begin(), *stack);
}

TEST(Recording, WithAHoleGoesOnBehindIt) {
  const auto items = RandomItems(6).make(60);
  const std::string whole = file_of_small_blocks(items);
  const Lines all = read_all(whole).lines;
  for (size_t at = kFileHeaderBytes; at + 200 < whole.size(); at += 7) {
    std::string torn = whole;
    std::fill_n(torn.begin() + static_cast<ptrdiff_t>(at), 200, '\0');
    const ReadBack got = read_all(torn);
    ASSERT_TRUE(is_part_of(got.lines, all)) << at;
    ASSERT_FALSE(is_whole(got.damage)) << at;
    // Blocks after the hole are read if they need nothing from it.
    if (at > whole.size() / 2) {
      ASSERT_GE(got.lines.size(), all.size() / 4) << at;
    }
  }
}

TEST(Recording, DoesNotTakeTextsOfTheProgramForBlocks) {
  RandomItems events(7);
  auto items = events.make(3);
  // A complete block of another file, as an argument.
  const std::string forged = file_of_small_blocks(events.make(1)).substr(kFileHeaderBytes);
  Argument text;
  text.is_string = true;
  Event event;
  event.ts_ns = UINT64_MAX / 2;
  event.source = std::make_shared<const EventSource>(EventSource{"p", "s", {text}});
  event.args = {0};
  event.strings = {forged};
  items.push_back(event);
  Fd file = memory_file();
  auto recorder = Recorder::start(copy_of(file), Compression::none);
  ASSERT_TRUE(recorder);
  (*recorder)->take(items);
  (*recorder)->end();
  ASSERT_TRUE((*recorder)->wait_ms(10'000));
  std::string bytes = bytes_of(file);
  const size_t at = bytes.find(forged);
  ASSERT_NE(at, std::string::npos);
  const Lines all = read_all(bytes).lines;
  bytes[at - 1] = static_cast<char>(bytes[at - 1] ^ 1);  // so that the reader searches for blocks
  for (size_t header = bytes.rfind(block_magic(), at - 1);
       header != std::string::npos && header > 0; header = bytes.rfind(block_magic(), header - 1))
    bytes[header] = 'x';
  EXPECT_TRUE(is_part_of(read_all(bytes).lines, all));
}

TEST(Recording, OfANewerVersionIsRefusedByName) {
  std::string bytes = encode(FileHeader{.version = kVersion + 1});
  EXPECT_NE(read_all(bytes).error.find("version 2"), std::string::npos) << read_all(bytes).error;
  EXPECT_NE(read_all("").error.find("no trace file"), std::string::npos);
  EXPECT_NE(read_all(std::string(500, 'x')).error.find("no trace file"), std::string::npos);
  EXPECT_NE(read_all(encode(FileHeader{}).substr(0, 40)).error.find("damaged"), std::string::npos);
}

TEST(Recording, SkipsWhatOnlyLaterVersionsKnow) {
  const auto items = RandomItems(8).make(10);
  std::string bytes = file_of_small_blocks(items);
  const auto add = [&](BlockHeader header, const std::string& records) {
    header.file_id = 0x1122334455667788;
    header.stored_bytes = header.plain_bytes = static_cast<uint32_t>(records.size());
    header.checksum = checksum_of(records);
    bytes += encode(header) + records;
  };
  add({.kind = static_cast<BlockKind>(77)}, "what is this?");
  add({.kind = BlockKind::definitions, .records = 1}, std::string("\x03\x4d\x7f\x01", 4));
  // A record of kind 7 between two of losses.
  const std::string lost("\x04\x04\x02\x05\x00", 5);
  add({.kind = BlockKind::events,
       .cpu = 1,
       .records = 3,
       .first_ns = UINT64_MAX / 2,
       .last_ns = UINT64_MAX / 2},
      lost + std::string("\x02\x07\x01", 3) + lost);
  const ReadBack got = read_all(bytes);
  EXPECT_EQ(got.lines.size(), items.size() + 2);
  EXPECT_EQ(got.damage.unknown, 2u);
  EXPECT_EQ(got.damage.blocks, 0u);
  EXPECT_EQ(got.damage.bytes, 0u);
}

TEST(Recording, ThatCannotGrowFailsAndSaysSo) {
  Fd file = memory_file();
  ASSERT_EQ(::ftruncate(file.get(), 0), 0);
  auto recorder = Recorder::start(copy_of(file), Compression::none);
  ASSERT_TRUE(recorder);
  const auto items = RandomItems(9).make(10'000);
  (*recorder)->take(items);
  ASSERT_EQ(::fcntl(file.get(), F_ADD_SEALS, F_SEAL_GROW), 0);  // like a full disk
  (*recorder)->take(items);
  (*recorder)->end();
  ASSERT_TRUE((*recorder)->wait_ms(10'000));
  const Recorder::State state = (*recorder)->state();
  EXPECT_EQ(state.phase, Recorder::Phase::failed);
  ASSERT_TRUE(state.error);
  // The file has exactly the events that the state reports, and all others are counted as lost.
  const ReadBack got = read_all(bytes_of(file));
  uint64_t events = 0;
  for (const std::string& line : got.lines) events += line.find("\"probe\"") != std::string::npos;
  EXPECT_EQ(state.events, events);
  EXPECT_EQ(state.events + state.lost, 2 * given_in(items));
}

// Nothing may wait, so no block has room: like a disk that hangs.
TEST(Recording, TellsWhatTheDiskWasTooSlowFor) {
  const auto items = RandomItems(10).make(50'000);
  uint64_t given = 0, lost_before = 0;
  for (const StreamItem& item : items)
    if (const auto* lost = std::get_if<Lost>(&item))
      lost_before += lost->count;
    else
      ++given;
  for (const size_t room : {kBlockBytes - 1, 4 * kBlockBytes}) {
    Fd file = memory_file();
    auto recorder = Recorder::start(copy_of(file), Compression::none, room);
    ASSERT_TRUE(recorder);
    (*recorder)->take(items);
    (*recorder)->end();
    ASSERT_TRUE((*recorder)->wait_ms(10'000));
    const Recorder::State state = (*recorder)->state();
    ASSERT_EQ(state.phase, Recorder::Phase::done);
    auto reader = Reader::open(copy_of(file));
    ASSERT_TRUE(reader);
    uint64_t events = 0, lost = 0, slow = 0, last_ns = 0;
    const auto count = [&](const StreamItem& item) {
      const uint64_t ts_ns = std::visit([](const auto& part) { return part.ts_ns; }, item);
      EXPECT_GE(ts_ns, last_ns);
      last_ns = ts_ns;
      if (const auto* told = std::get_if<Lost>(&item)) {
        lost += told->count;
        if (told->cause == LossCause::slow_disk) slow += told->count;
      } else {
        ++events;
      }
      return true;
    };
    ASSERT_TRUE(reader->read({}, count));
    EXPECT_TRUE(is_whole(reader->damage()));
    EXPECT_EQ(events, state.events);
    EXPECT_EQ(lost, state.lost);
    EXPECT_EQ(events + lost, given + lost_before);
    if (room < kBlockBytes) {
      EXPECT_GT(slow, given / 2);
    }
  }
}

TEST(Recording, TakesThePlaceOfWhatTheFileHad) {
  const auto items = RandomItems(1).make(10);
  Fd file = file_of(std::string(1 << 20, 'x'));
  auto recorder = Recorder::start(copy_of(file), Compression::none);
  ASSERT_TRUE(recorder);
  (*recorder)->take(items);
  (*recorder)->end();
  ASSERT_TRUE((*recorder)->wait_ms(10'000));
  const ReadBack got = read_all(bytes_of(file));
  EXPECT_TRUE(is_whole(got.damage));
  EXPECT_EQ(sorted(got.lines), sorted(lines_of(items)));
}

TEST(Recording, IsRefusedIntoWhatIsNoFileToWrite) {
  const auto refusal = [](Fd file) {
    auto recorder = Recorder::start(std::move(file), Compression::none);
    return recorder ? std::string("none") : recorder.error().message;
  };
  EXPECT_NE(refusal(Fd{::open("/dev/null", O_RDWR)}).find("no regular file"), std::string::npos);
  Fd file = memory_file();
  ASSERT_EQ(::fcntl(file.get(), F_SETFL, O_APPEND), 0);
  EXPECT_NE(refusal(copy_of(file)).find("O_APPEND"), std::string::npos);
  EXPECT_NE(refusal(Fd{::open(("/proc/self/fd/" + std::to_string(file.get())).c_str(), O_RDONLY)})
                .find("not open for writing"),
            std::string::npos);
}

TEST(Recording, OfCallsTakesFewBytes) {
  auto source = std::make_shared<const EventSource>(EventSource{"uprobe:/bin/a:f", "s", {}});
  std::vector<StreamItem> items;
  uint64_t ts_ns = 1'000'000'000;
  constexpr uint32_t kCalls = 20'000;
  for (uint32_t i = 0; i < kCalls; ++i) {
    Event event;
    event.ts_ns = ts_ns += 900;
    event.pid = event.tid = 4711;
    event.comm = "main";
    event.source = source;
    event.call = CallMark{i + 1, 0};
    items.push_back(event);
    event.kind = EventKind::returned;
    event.ts_ns = ts_ns += 300;
    event.duration_ns = 300;
    items.push_back(event);
  }
  EXPECT_LT(recorded(items).size(), kCalls * 16);
}

TEST(RecordingBytes, AnyNumberComesBack) {
  std::mt19937_64 random(1);
  std::string bytes;
  ByteWriter to(bytes);
  std::vector<uint64_t> numbers{0, 1, 127, 128, UINT64_MAX, UINT64_MAX - 1};
  for (int i = 0; i < 1000; ++i) numbers.push_back(random() >> (random() % 64));
  for (const uint64_t number : numbers) to.varint(number);
  ByteReader from(bytes);
  for (const uint64_t number : numbers) ASSERT_EQ(from.varint(), number);
  EXPECT_TRUE(from.at_end() && !from.failed());
  for (size_t i = 1; i < numbers.size(); ++i)
    ASSERT_EQ(after_way(numbers[i - 1], coded_way(numbers[i - 1], numbers[i])), numbers[i]);
}

TEST(RecordingBytes, OfANumberThatIsTooLongNothingIsRead) {
  ByteReader endless(std::string_view("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 11));
  EXPECT_EQ(endless.varint(), 0u);
  EXPECT_TRUE(endless.failed());
  ByteReader wide(std::string_view("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 10));
  EXPECT_EQ(wide.varint(), 0u);
  EXPECT_TRUE(wide.failed());
}
