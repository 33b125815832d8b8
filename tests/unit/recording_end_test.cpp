// SPDX-License-Identifier: BSD-2-Clause
//
// The end of a trace file, and files without one.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "daemon/stream/dump.h"
#include "daemon/stream/recorder.h"
#include "tests/support/recordings.h"
#include "tests/support/small_disk.h"

using namespace tracectl;
using namespace tracectl::recording;

namespace {

constexpr size_t kDiskBytes = 256 << 10;

struct Told {
  uint64_t events = 0, lost = 0;
  uint64_t unknown_ends = 0;  // items with that cause; always the last one
  bool is_end_known = false;
  std::string ended_early;
  Damage damage;
};

Told told_by(const Fd& file) {
  Told told;
  auto reader = Reader::open(copy_of(file));
  if (!reader) return ADD_FAILURE() << reader.error().message, told;
  const auto read = reader->read({}, [&](const StreamItem& item) {
    EXPECT_EQ(told.unknown_ends, 0u) << "something comes behind the end";
    if (const auto* lost = std::get_if<Lost>(&item)) {
      told.lost += lost->count;
      told.unknown_ends += lost->cause == LossCause::unknown_end;
    } else {
      ++told.events;
    }
    return true;
  });
  EXPECT_TRUE(read);
  told.is_end_known = reader->is_end_known();
  told.ended_early = reader->ended_early();
  told.damage = reader->damage();
  EXPECT_EQ(told.unknown_ends, told.is_end_known ? 0u : 1u);
  return told;
}

uint64_t count_given(std::span<const StreamItem> items) {
  uint64_t given = 0;
  for (const StreamItem& item : items)
    if (const auto* lost = std::get_if<Lost>(&item))
      given += lost->count;
    else
      ++given;
  return given;
}

Recorder::State ended(Recorder& recorder) {
  recorder.end();
  EXPECT_TRUE(recorder.wait_ms(60'000));
  return recorder.state();
}

// Waits until the recorder's thread has got so far.
template <class Condition> void await(Condition&& condition) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!condition()) {
    ASSERT_LT(std::chrono::steady_clock::now(), end);
    std::this_thread::yield();
  }
}

// The file has its header, which the recorder's thread writes.
std::shared_ptr<Recorder> recording_to(const Fd& file) {
  auto recorder = Recorder::start(copy_of(file), Compression::none);
  EXPECT_TRUE(recorder);
  await([&] { return bytes_of(file).size() >= kFileHeaderBytes; });
  return *recorder;
}

}  // namespace

TEST(RecordingEnd, IsKnownOfWhatEndedInOrder) {
  const Fd file = memory_file();
  const auto recorder = recording_to(file);
  const auto items = RandomItems(1).make(5000);
  recorder->take(items);
  const Recorder::State state = ended(*recorder);
  const Told told = told_by(file);
  EXPECT_TRUE(told.is_end_known);
  EXPECT_EQ(told.ended_early, "");
  EXPECT_EQ(told.events + told.lost, count_given(items));
  EXPECT_TRUE(is_whole(told.damage));
  EXPECT_EQ(state.bytes, bytes_of(file).size());
}

TEST(RecordingEnd, IsUnknownOfEachPartOfAFile) {
  const Fd file = memory_file();
  const auto recorder = recording_to(file);
  recorder->take(RandomItems(2).make(20));
  ended(*recorder);
  const std::string whole = bytes_of(file);
  for (size_t size = kFileHeaderBytes; size < whole.size(); ++size) {
    const Told told = told_by(file_of(whole.substr(0, size)));
    ASSERT_FALSE(told.is_end_known) << size;
  }
}

TEST(RecordingEnd, OfWritersThatToldNoneIsTakenAsItIs) {
  const auto items = RandomItems(3).make(20);
  const Told told = told_by(file_of(file_of_small_blocks(items)));
  EXPECT_TRUE(told.is_end_known);
  EXPECT_EQ(told.events + told.lost, count_given(items));
}

TEST(RecordingEnd, IsUnknownWhileItIsRecorded) {
  const Fd file = memory_file();
  const auto recorder = recording_to(file);
  recorder->take(RandomItems(4).make(20'000));
  await([&] { return recorder->state().bytes > 4 * kBlockBytes; });
  EXPECT_FALSE(told_by(file).is_end_known);
}

TEST(RecordingEnd, OnAFullDiskTellsAllThatWasLost) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    // Different sizes, so that blocks end at different offsets of the disk's last page.
    const SmallDisk disk(kDiskBytes);
    const Fd filler = disk.new_file("filler"), file = disk.new_file();
    ASSERT_EQ(::posix_fallocate(filler.get(), 0, 1 + 4096 * seed), 0);
    const auto recorder = recording_to(file);
    const auto items = RandomItems(seed).make(20'000);
    recorder->take(items);
    await([&] { return recorder->state().phase == Recorder::Phase::failed; });
    recorder->take(items);  // is lost, too
    const Recorder::State state = ended(*recorder);
    EXPECT_NE(state.error->message.find("No space"), std::string::npos);
    const Told told = told_by(file);
    EXPECT_TRUE(told.is_end_known);
    EXPECT_NE(told.ended_early.find("No space"), std::string::npos) << told.ended_early;
    EXPECT_GT(told.events, 0u);
    EXPECT_EQ(told.events, state.events);
    EXPECT_EQ(told.lost, state.lost);
    EXPECT_EQ(told.events + told.lost, 2 * count_given(items));
    EXPECT_TRUE(is_whole(told.damage));
    EXPECT_EQ(state.bytes, bytes_of(file).size());
  }
}

TEST(RecordingEnd, AtItsBoundTellsAllThatWasLost) {
  constexpr uint64_t kBound = 300'000;
  const Fd file = memory_file();
  auto recorder =
      Recorder::start(copy_of(file), Compression::none, Recorder::kMostWaitingBytes, kBound);
  ASSERT_TRUE(recorder);
  const auto items = RandomItems(8).make(20'000);
  (*recorder)->take(items);
  await([&] { return (*recorder)->state().phase == Recorder::Phase::failed; });
  (*recorder)->take(items);  // is lost, too
  const Recorder::State state = ended(**recorder);
  EXPECT_NE(state.error->message.find("300000 bytes"), std::string::npos);
  const Told told = told_by(file);
  EXPECT_TRUE(told.is_end_known);
  EXPECT_NE(told.ended_early.find("quota.recording-bytes"), std::string::npos) << told.ended_early;
  EXPECT_GT(told.events, 0u);
  EXPECT_EQ(told.lost, state.lost);
  EXPECT_EQ(told.events + told.lost, 2 * count_given(items));
  EXPECT_LE(bytes_of(file).size(), kBound + 512) << "with what stands behind the last block";
  EXPECT_GT(bytes_of(file).size(), kBound - kBlockBytes - kBlockHeaderBytes);
}

// The daemon may be killed at that time.
TEST(RecordingEnd, OnAFullDiskIsUnknownWhileMoreIsLost) {
  const SmallDisk disk(kDiskBytes);
  const Fd file = disk.new_file();
  const auto recorder = recording_to(file);
  recorder->take(RandomItems(5).make(20'000));
  await([&] { return !told_by(file).ended_early.empty(); });
  const Told told = told_by(file);
  EXPECT_FALSE(told.is_end_known);
  EXPECT_GT(told.lost, 0u);
}

// A file system without reserved space, which becomes full suddenly.
TEST(RecordingEnd, IsUnknownWhereItCannotBeWritten) {
  const Fd file = memory_file();
  const auto recorder = recording_to(file);
  const auto items = RandomItems(6).make(10'000);
  recorder->take(items);
  ASSERT_EQ(::fcntl(file.get(), F_ADD_SEALS, F_SEAL_GROW), 0);
  recorder->take(items);
  const Recorder::State state = ended(*recorder);
  ASSERT_EQ(state.phase, Recorder::Phase::failed);
  EXPECT_FALSE(told_by(file).is_end_known);
}

TEST(RecordingEnd, OfFilesInTurnOnAFullDiskTellsAllThatWasLost) {
  for (const size_t file_bytes : {100'000, 120'000, 127'000, 131'000, 131'500}) {
    const SmallDisk disk(kDiskBytes);
    std::vector<Fd> files, copies;
    for (const char* name : {"0", "1", "2", "3", "4", "5"}) {
      files.push_back(disk.new_file(name));
      copies.push_back(copy_of(files.back()));
    }
    auto recorder = Recorder::start_rotating(std::move(copies), file_bytes, Compression::none);
    ASSERT_TRUE(recorder);
    const auto items = RandomItems(7).make(20'000);
    (*recorder)->take(items);
    await([&] { return (*recorder)->state().phase == Recorder::Phase::failed; });
    const Recorder::State state = ended(**recorder);
    Told all;
    size_t early = 0;
    for (const Fd& file : files) {
      if (bytes_of(file).empty()) continue;
      const Told told = told_by(file);
      EXPECT_TRUE(told.is_end_known);
      early += !told.ended_early.empty();
      all.events += told.events;
      all.lost += told.lost;
    }
    EXPECT_EQ(early, 1u) << file_bytes;
    EXPECT_EQ(all.events, state.events);
    EXPECT_EQ(all.lost, state.lost);
    EXPECT_EQ(all.events + all.lost, count_given(items));
  }
}

TEST(RecordingEnd, OfADumpOnAFullDiskTellsWhatIsMissing) {
  const SmallDisk disk(kDiskBytes);
  const Fd file = disk.new_file();
  FlightRecorder recorder({.bytes = 64 << 20});
  const auto items = RandomItems(8).make(20'000);
  recorder.take(items);
  auto dump = Dump::start(copy_of(file), recorder.snapshot(), Compression::none, "a test");
  ASSERT_TRUE(dump);
  ASSERT_TRUE((*dump)->wait_ms(60'000));
  EXPECT_EQ((*dump)->state().phase, Dump::Phase::failed);
  const Told told = told_by(file);
  EXPECT_TRUE(told.is_end_known);
  EXPECT_NE(told.ended_early.find("No space"), std::string::npos);
  EXPECT_GT(told.events, 0u);
  EXPECT_EQ(told.events + told.lost, count_given(items));
  EXPECT_EQ((*dump)->state().lost, told.lost);
}
