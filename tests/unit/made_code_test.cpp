// SPDX-License-Identifier: BSD-2-Clause
//
// Names of code made at run time: perf maps and jitdump files.
#include "daemon/object/made_code.h"

#include <gtest/gtest.h>

#include "daemon/process/maps.h"
#include "daemon/process/perf_map.h"

using namespace tracectl;

namespace {

std::string name_at(const MadeCode& made, uint64_t address) {
  const auto* function = made.at(address);
  return function ? function->name : "none";
}

// A jitdump file, written as the specification has it.
class Jitdump {
 public:
  Jitdump() {
    put(uint32_t{0x4A695444}), put(uint32_t{1}), put(uint32_t{40}), put(uint32_t{62});
    put(uint32_t{0}), put(uint32_t{7}), put(uint64_t{1}), put(uint64_t{0});
  }
  Jitdump& load(uint64_t address, uint64_t size, const std::string& name) {
    head(0, 40 + name.size() + 1 + size);
    put(uint32_t{7}), put(uint32_t{8}), put(address), put(address), put(size), put(uint64_t{1});
    bytes_ += name + '\0' + std::string(size, '\x90');
    return *this;
  }
  Jitdump& move(uint64_t from, uint64_t to, uint64_t size) {
    head(1, 48);
    put(uint32_t{7}), put(uint32_t{8}), put(to), put(from), put(to), put(size), put(uint64_t{1});
    return *this;
  }
  Jitdump& record(uint32_t kind, size_t size) {
    head(kind, size);
    bytes_.append(size, 'x');
    return *this;
  }
  MadeCode made(size_t cut_to = std::string::npos) const {
    const std::string bytes = bytes_.substr(0, cut_to);
    return MadeCode::of_jitdump([&](uint64_t offset, size_t size) {
      return offset < bytes.size() ? bytes.substr(offset, size) : std::string{};
    });
  }
  size_t size() const { return bytes_.size(); }

 private:
  template <class Part> void put(Part part) {
    bytes_.append(reinterpret_cast<const char*>(&part), sizeof(part));
  }
  void head(uint32_t kind, size_t body) {
    put(kind), put(static_cast<uint32_t>(16 + body)), put(uint64_t{5});
  }
  std::string bytes_;
};

}  // namespace

TEST(MadeCode, IsNamedByPerfMaps) {
  const auto made = MadeCode::of_perf_map(
      "1000 20 JS:*outer /a b.js:2:15\n"
      "0x2000 0x10 void java.lang.String.run()\n"
      "no line\n"
      "3000 0 empty\n"
      "ffffffffffffffff 20 beyond\n"
      "5000 10 unfinis");
  EXPECT_EQ(made.size(), 2u);
  EXPECT_EQ(name_at(made, 0x1000), "JS:*outer /a b.js:2:15");
  EXPECT_EQ(name_at(made, 0x101f), "JS:*outer /a b.js:2:15");
  EXPECT_EQ(name_at(made, 0x1020), "none");
  EXPECT_EQ(name_at(made, 0xfff), "none");
  EXPECT_EQ(name_at(made, 0x200f), "void java.lang.String.run()");
  EXPECT_EQ(name_at(made, 0x5000), "none");
}

TEST(MadeCode, TakesThePlaceOfOlderCode) {
  const auto made = MadeCode::of_perf_map(
      "1000 100 first\n"
      "1100 100 second\n"
      "1200 100 third\n"
      "1080 100 new\n");
  EXPECT_EQ(name_at(made, 0x1000), "none") << "a part of it is another function now";
  EXPECT_EQ(name_at(made, 0x1080), "new");
  EXPECT_EQ(name_at(made, 0x117f), "new");
  EXPECT_EQ(name_at(made, 0x1180), "none");
  EXPECT_EQ(name_at(made, 0x1200), "third");
}

TEST(MadeCode, HasNamesThatATerminalCanShow) {
  const auto made =
      MadeCode::of_perf_map("1000 10 a\x1b[31mb\n2000 10 " + std::string(9999, 'n') + "\n");
  EXPECT_EQ(name_at(made, 0x1000), "a?[31mb");
  EXPECT_EQ(name_at(made, 0x2000).size(), kMostMadeName);
}

TEST(MadeCode, IsNamedByJitdumpFiles) {
  Jitdump file;
  file.load(0x1000, 0x20, "one")
      .record(2, 100)
      .load(0x2000, 0x20, "two")
      .move(0x1000, 0x3000, 0x20);
  const auto made = file.made();
  EXPECT_EQ(name_at(made, 0x1000), "none");
  EXPECT_EQ(name_at(made, 0x301f), "one");
  EXPECT_EQ(name_at(made, 0x2000), "two");
}

TEST(MadeCode, OfAJitdumpFileEndsWhereItIsCut) {
  Jitdump file;
  file.load(0x1000, 0x20, "one").load(0x2000, 0x20, "two");
  for (size_t cut = 0; cut < file.size(); ++cut) EXPECT_LE(file.made(cut).size(), 2u);
  EXPECT_EQ(file.made(150).size(), 1u);
  Jitdump endless;
  endless.record(0, 0).load(0x1000, 0x20, "after a record without a body");
  EXPECT_EQ(endless.made().size(), 1u);
}

TEST(MadeCode, IsListedInFilesOfTheseNames) {
  EXPECT_TRUE(is_perf_map("/tmp/perf-12.map"));
  EXPECT_FALSE(is_perf_map("/tmp/perf-.map"));
  EXPECT_FALSE(is_perf_map("/tmp/perf-1x.map"));
  EXPECT_FALSE(is_perf_map("/tmp/perf-12.map.so"));
  EXPECT_TRUE(is_jitdump("/home/u/.debug/jit/x/jit-7.dump"));
  EXPECT_FALSE(is_jitdump("/tmp/perf-12.map"));
}

TEST(MadeCode, LiesInExecutableMemoryWithoutAFile) {
  const auto ranges = parse_executable_memory(
      "1000-2000 r-xp 00000000 fd:01 42   /usr/lib/libx.so\n"
      "3000-4000 rwxp 00000000 00:00 0 \n"
      "5000-6000 rw-p 00000000 00:00 0 \n"
      "7000-8000 r-xp 00000000 00:00 0    [anon:v8]\n"
      "9000-a000 r-xp 00000000 00:00 0    [vdso]\n"
      "b000-c000 --xp 00000000 00:00 0    [uprobes]\n");
  ASSERT_EQ(ranges.size(), 2u);
  EXPECT_EQ(ranges[0], (ExecutableRange{0x3000, 0x4000, 0}));
  EXPECT_EQ(ranges[1], (ExecutableRange{0x7000, 0x8000, 0}));
}

TEST(MadeCode, IsListedByTheNumberThatTheProcessHasForItself) {
  EXPECT_EQ(parse_innermost_pid("Name:\tx\nNSpid:\t120\t7\nNSpgid:\t120\n"), 7);
  EXPECT_EQ(parse_innermost_pid("Name:\tx\nNSpid:\t120\n"), 120);
  EXPECT_EQ(parse_innermost_pid("Name:\tx\nNSpid:\tq\n"), std::nullopt);
  EXPECT_EQ(parse_innermost_pid("Name:\tx\n"), std::nullopt);
}
