// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/process/mapping_record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/perf_event.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <span>
#include <string>
#include <vector>

namespace tracectl {
namespace {

using ::testing::ElementsAre;

template <class T> std::string bytes_of_value(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof(value)};
}

// A record of the kernel, with a length that is a multiple of 8.
std::string record(uint32_t type, uint16_t misc, std::string contents) {
  contents.resize((contents.size() + 7) / 8 * 8);
  const auto size = static_cast<uint16_t>(sizeof(perf_event_header) + contents.size());
  return bytes_of_value(perf_event_header{type, misc, size}) + contents;
}

std::string executed() {
  return record(PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC, std::string(8, '\0') + "program");
}

std::string mapped(uint64_t start, uint64_t length, const std::string& path, uint64_t inode = 7) {
  const uint64_t numbers[] = {start, length, 0x1000};
  const uint32_t device[] = {8, 1};
  const uint64_t file[] = {inode, 0};
  return record(PERF_RECORD_MMAP2, 0,
                std::string(8, '\0') + bytes_of_value(numbers) + bytes_of_value(device) +
                    bytes_of_value(file) + std::string(8, '\0') + path + '\0');
}

std::optional<std::vector<MappedFile>> parsed(const std::string& records) {
  return parse_mapping_records(std::as_bytes(std::span(records)));
}

MappedFile file(const std::string& path, std::vector<ExecutableRange> ranges, ino_t inode = 7) {
  return {path, makedev(8, 1), inode, false, std::move(ranges)};
}

TEST(MappingRecords, AreThoseOfTheExecutedProgram) {
  EXPECT_THAT(*parsed(mapped(0x1000, 0x1000, "/before") + executed() +
                      mapped(0x5000, 0x2000, "/program") + mapped(0x9000, 0x1000, "[vdso]") +
                      mapped(0xa000, 0x1000, "/library", 8) + mapped(0xc000, 0x1000, "/program")),
              ElementsAre(file("/program", {{0x5000, 0x7000, 0x1000}, {0xc000, 0xd000, 0x1000}}),
                          file("/library", {{0xa000, 0xb000, 0x1000}}, 8)));
}

TEST(MappingRecords, OfLaterMappingsTakeThePlaceOfEarlierOnes) {
  EXPECT_THAT(*parsed(executed() + mapped(0x1000, 0x3000, "/earlier") +
                      mapped(0x2000, 0x1000, "/later", 8)),
              ElementsAre(file("/later", {{0x2000, 0x3000, 0x1000}}, 8)));
}

TEST(MappingRecords, OfNoneOrOfSeveralProgramsAreNone) {
  EXPECT_FALSE(parsed(""));
  EXPECT_FALSE(parsed(mapped(0x1000, 0x1000, "/before")));
  EXPECT_FALSE(parsed(executed() + mapped(0x1000, 0x1000, "/first") + executed()));
}

TEST(MappingRecords, ThatWereLostOrAreCutOffAreNone) {
  const std::string whole = executed() + mapped(0x1000, 0x1000, "/program");
  EXPECT_TRUE(parsed(whole));
  EXPECT_FALSE(parsed(whole + record(PERF_RECORD_LOST, 0, std::string(16, '\0'))));
  EXPECT_FALSE(parsed(whole.substr(0, whole.size() - 1)));
  EXPECT_FALSE(parsed(whole + std::string(8, '\0')));
}

TEST(MappingRecord, OutlivesAProcessWhoseMapsNobodyRead) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root may record any process";
  int go[2];
  ASSERT_EQ(::pipe(go), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    char byte = 0;
    ::close(go[1]);
    (void)!::read(go[0], &byte, 1);
    ::execl("/bin/true", "true", nullptr);
    ::_exit(1);
  }
  ::close(go[0]);
  {
    const auto process = Process::open(child);
    ASSERT_TRUE(process);
    const auto record = MappingRecord::begin(*process);
    ASSERT_TRUE(record) << record.error().message;
    EXPECT_FALSE(record->files());
    ::close(go[1]);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_EQ(status, 0);
    const auto files = record->files();
    ASSERT_TRUE(files);
    const auto has = [&](const std::string& end) {
      return std::ranges::any_of(*files,
                                 [&](const MappedFile& one) { return one.path.ends_with(end); });
    };
    EXPECT_TRUE(has("/true"));
    EXPECT_TRUE(has("/libc.so.6"));
  }
}

}  // namespace
}  // namespace tracectl
