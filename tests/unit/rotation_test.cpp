// SPDX-License-Identifier: BSD-2-Clause
//
// Recordings into several files that are filled in turn.
#include <gtest/gtest.h>

#include "daemon/stream/recorder.h"
#include "tests/support/recordings.h"

using namespace tracectl;
using namespace tracectl::recording;

namespace {

constexpr uint64_t kFileBytes = 200'000;

struct Rotated {
  std::vector<std::string> files;  // the oldest first
  Recorder::State state;
};

// Waits for the disk after each portion, so that nothing is lost.
Rotated rotated(std::span<const StreamItem> items, size_t count, Compression compression,
                size_t most_waiting_bytes = Recorder::kMostWaitingBytes) {
  std::vector<Fd> files, copies;
  for (size_t i = 0; i < count; ++i) {
    files.push_back(memory_file());
    copies.push_back(copy_of(files.back()));
  }
  auto recorder =
      Recorder::start_rotating(std::move(copies), kFileBytes, compression, most_waiting_bytes);
  if (!recorder) return ADD_FAILURE() << recorder.error().message, Rotated{};
  for (size_t at = 0; at < items.size(); at += 1000)
    (*recorder)->take(items.subspan(at, std::min<size_t>(1000, items.size() - at)));
  (*recorder)->end();
  EXPECT_TRUE((*recorder)->wait_ms(60'000));
  Rotated done{{}, (*recorder)->state()};
  EXPECT_EQ(done.state.phase, Recorder::Phase::done);
  const uint64_t begun = done.state.turns->files_begun;
  for (uint64_t i = begun - std::min<uint64_t>(begun, count); i < begun; ++i)
    done.files.push_back(bytes_of(files[i % count]));
  return done;
}

size_t events_in(const Lines& lines) {
  return static_cast<size_t>(std::count_if(lines.begin(), lines.end(), [](const auto& line) {
    return line.find("\"probe\"") != std::string::npos;
  }));
}

Lines in_any_order(Lines lines) {
  std::sort(lines.begin(), lines.end());
  return lines;
}

}  // namespace

// Each file is read on its own, so each must have the definitions of its events.
TEST(Rotation, LeavesNothingOutBetweenFiles) {
  const auto items = RandomItems(1).make(60'000);
  for (const Compression compression : {Compression::none, Compression::zstd}) {
    const Rotated done = rotated(items, 64, compression);
    ASSERT_GT(done.files.size(), 5u);
    ASSERT_LT(done.files.size(), 64u);
    Lines all;
    for (const std::string& file : done.files) {
      const ReadBack got = read_all(file);
      EXPECT_EQ(got.error, "");
      EXPECT_TRUE(is_whole(got.damage));
      all.insert(all.end(), got.lines.begin(), got.lines.end());
    }
    EXPECT_EQ(in_any_order(all), in_any_order(lines_of(items)));
    EXPECT_EQ(done.state.events, events_in(all));
    EXPECT_EQ(done.state.turns->overwritten, 0u);
  }
}

TEST(Rotation, KeepsTheEndOfWhatCame) {
  const auto items = RandomItems(2).make(60'000);
  const Rotated done = rotated(items, 3, Compression::none);
  ASSERT_GT(done.state.turns->files_begun, 5u);
  Lines kept;
  uint64_t bytes = 0, last_ns = 0;
  for (const std::string& file : done.files) {
    EXPECT_LE(file.size(), kFileBytes + 2048);  // the last record with its definitions
    bytes += file.size();
    const ReadBack got = read_all(file);
    EXPECT_TRUE(is_whole(got.damage));
    kept.insert(kept.end(), got.lines.begin(), got.lines.end());
    // No file begins before the end of the one before it.
    auto reader = Reader::open(file_of(file));
    ASSERT_TRUE(reader);
    EXPECT_GE(reader->first_ns(), last_ns);
    ASSERT_TRUE(reader->read({}, [&](const StreamItem& item) {
      last_ns = std::visit([](const auto& part) { return part.ts_ns; }, item);
      return true;
    }));
  }
  EXPECT_EQ(done.state.bytes, bytes);
  const Lines all = lines_of(items);
  EXPECT_EQ(in_any_order(kept),
            in_any_order({all.end() - static_cast<ptrdiff_t>(kept.size()), all.end()}));
  EXPECT_EQ(done.state.events, events_in(kept));
  EXPECT_EQ(done.state.events + done.state.turns->overwritten, events_in(all));
}

// The reported losses and the events in the files add up to all events, wherever files end.
TEST(Rotation, TellsWhatTheDiskWasTooSlowFor) {
  const auto items = RandomItems(3).make(60'000);
  uint64_t lost_before = 0;
  for (const StreamItem& item : items)
    if (const auto* lost = std::get_if<Lost>(&item)) lost_before += lost->count;
  const Rotated done = rotated(items, 64, Compression::none, 2 * kBlockBytes);
  size_t events = 0;
  uint64_t told = 0;
  for (const std::string& file : done.files) {
    auto reader = Reader::open(file_of(file));
    ASSERT_TRUE(reader);
    ASSERT_TRUE(reader->read({}, [&](const StreamItem& item) {
      if (const auto* lost = std::get_if<Lost>(&item))
        told += lost->count;
      else
        ++events;
      return true;
    }));
    EXPECT_TRUE(is_whole(reader->damage()));
  }
  EXPECT_EQ(events, done.state.events);
  EXPECT_EQ(told, done.state.lost);
  EXPECT_EQ(events + told, events_in(lines_of(items)) + lost_before);
}

TEST(Rotation, IsRefusedWhereOneOfTheFilesCannotBeWritten) {
  std::vector<Fd> files;
  files.push_back(memory_file());
  files.push_back(Fd{::open("/dev/null", O_RDWR | O_CLOEXEC)});
  auto recorder = Recorder::start_rotating(std::move(files), kFileBytes, Compression::none);
  ASSERT_FALSE(recorder);
  EXPECT_NE(recorder.error().message.find("no regular file"), std::string::npos);
}
