// SPDX-License-Identifier: BSD-2-Clause
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <set>
#include <string>

#include "daemon/object/object_file.h"
#include "daemon/object/unwind_ranges.h"
#include "tests/support/elf_builder.h"
#include "tests/support/must.h"
#include "tests/support/program.h"

namespace tracectl {

void PrintTo(const AddressRange& range, std::ostream* out) {
  *out << std::hex << range.address << "+" << range.size << std::dec;
}

namespace {

using on_file::as_file;
using on_file::ElfBuilder;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Ranges = std::vector<AddressRange>;

// ---- files of this machine ----

ElfFile open_file(const std::string& path) {
  const Fd fd{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  return on_kernel::must(ElfFile::open(fd.get(), path, "/none"));
}

bool is_in_stubs(const ElfFile& file, uint64_t address) {
  return std::ranges::any_of(std::array{".plt", ".plt.got", ".plt.sec"}, [&](const char* name) {
    const auto section = file.section(name);
    return section && address - section->address < section->size;
  });
}

// readelf prints "... FDE cie=0000002c pc=000000000041f020..0000000000420f10" for each.
std::set<AddressRange> ranges_by_readelf(const std::string& path, const ElfFile& file) {
  std::set<AddressRange> ranges;
  const std::string command = "readelf --debug-dump=frames '" + path + "' 2>/dev/null";
  const std::unique_ptr<FILE, int (*)(FILE*)> listing{popen(command.c_str(), "r"), pclose};
  char line[1024];
  while (listing && std::fgets(line, sizeof line, listing.get()) != nullptr) {
    const char* at = std::strstr(line, " pc=");
    if (at == nullptr) continue;
    char* middle = nullptr;
    const uint64_t start = std::strtoull(at + 4, &middle, 16);
    const uint64_t end = std::strtoull(middle + 2, nullptr, 16);
    if (!is_in_stubs(file, start)) ranges.insert({start, end - start});
  }
  return ranges;
}

class UnwindRangesOf : public ::testing::TestWithParam<const char*> {};

TEST_P(UnwindRangesOf, AreThoseOfReadelf) {
  const std::string path = on_kernel::installed_path(GetParam());
  const ElfFile file = open_file(path);
  const UnwindRanges ranges(file);
  const auto expected = ranges_by_readelf(path, file);
  EXPECT_GT(expected.size(), 400u);
  EXPECT_EQ(ranges.all(), Ranges(expected.begin(), expected.end()));
}

INSTANTIATE_TEST_SUITE_P(Files, UnwindRangesOf,
                         ::testing::Values("/usr/bin/python3", "/usr/bin/bash",
                                           "/usr/lib/x86_64-linux-gnu/libstdc++.so.6",
                                           "/usr/lib/x86_64-linux-gnu/libpq.so.5"));

TEST(UnwindRangesTest, HaveThePartsThatGccPutsElsewhere) {
  const std::string path = on_kernel::target_path("cold_parts");
  const ElfFile file = open_file(path);
  const UnwindRanges ranges(file);
  size_t parts = 0;
  for (const Function& function : file.functions()) {
    if (!function.name.ends_with(".cold")) continue;
    ++parts;
    const AddressRange expected{function.address, function.size};
    EXPECT_EQ(ranges.range_at(function.address), expected) << function.name;
    EXPECT_EQ(ranges.range_at(function.address + function.size - 1), expected) << function.name;
  }
  EXPECT_EQ(parts, 3u);
}

// ---- tables made by hand: Linux Standard Base Core, 10.6 ----

constexpr uint64_t kTable = 0x3000;

std::string little_endian(uint64_t number, size_t size) {
  std::string bytes;
  for (size_t i = 0; i < size; ++i) bytes += static_cast<char>(number >> (8 * i));
  return bytes;
}

// An entry with a correct length in its header.
std::string entry(uint32_t id, const std::string& content) {
  return little_endian(4 + content.size(), 4) + little_endian(id, 4) + content;
}

std::string cie(const std::string& augmentation, const std::string& data) {
  std::string content = '\1' + augmentation + '\0' + "\1\x78\x10";
  if (!augmentation.empty()) content += static_cast<char>(data.size()) + data;
  return entry(0, content);
}

std::string cie_with_encoding(unsigned encoding) {
  return cie("zR", std::string(1, static_cast<char>(encoding)));
}

// A table whose first entry is the CIE of all added ones.
struct Table {
  explicit Table(std::string first) : bytes(std::move(first)) {}

  Table& add(uint64_t address, uint64_t size, size_t width = 8) {
    return add_raw(little_endian(address, width) + little_endian(size, width));
  }
  Table& add_raw(const std::string& content) {
    bytes += entry(static_cast<uint32_t>(bytes.size() + 4), content);
    return *this;
  }
  // The place of the next FDE's address.
  uint64_t place() const { return kTable + bytes.size() + 8; }

  std::string bytes;
};

Table absolute() { return Table{cie("", "")}; }

Ranges parsed(const std::string& bytes) {
  // A buffer of exactly this size, so that a sanitizer detects reads beyond it.
  const std::vector<uint8_t> exact(bytes.begin(), bytes.end());
  return parse_unwind_ranges(exact, kTable);
}
Ranges parsed(const Table& table) { return parsed(table.bytes); }

TEST(UnwindTable, ItsEndIsATerminatorOrTheSections) {
  const Table table = absolute().add(0x1000, 0x10).add(0x1010, 8);
  EXPECT_THAT(parsed(table), ElementsAre(AddressRange{0x1000, 0x10}, AddressRange{0x1010, 8}));
  EXPECT_EQ(parsed(table.bytes + little_endian(0, 4)), parsed(table));
  const std::string behind = absolute().add(0x1018, 8).bytes;
  EXPECT_EQ(parsed(table.bytes + little_endian(0, 4) + behind), parsed(table));
  EXPECT_THAT(parsed(""), IsEmpty());
}

TEST(UnwindTable, PointersHaveTwoFourOrEightBytes) {
  const struct {
    unsigned encoding;
    size_t width;
  } kEncodings[] = {{0x00, 8}, {0x02, 2}, {0x03, 4}, {0x04, 8}, {0x0a, 2}, {0x0b, 4}, {0x0c, 8}};
  for (const auto& one : kEncodings) {
    Table direct{cie_with_encoding(one.encoding)};
    EXPECT_THAT(parsed(direct.add(0x1234, 0x56, one.width)),
                ElementsAre(AddressRange{0x1234, 0x56}))
        << one.encoding;
    Table relative{cie_with_encoding(one.encoding | 0x10)};
    EXPECT_THAT(parsed(relative.add(0x20, 0x56, one.width)),
                ElementsAre(AddressRange{Table{cie_with_encoding(0)}.place() + 0x20, 0x56}))
        << one.encoding;
  }
}

TEST(UnwindTable, SomePointersHaveASign) {
  for (const unsigned encoding : {0x1au, 0x1bu, 0x1cu, 0x10u}) {
    const size_t width = encoding == 0x1a ? 2 : encoding == 0x1b ? 4 : 8;
    Table table{cie_with_encoding(encoding)};
    const uint64_t distance = 0x1000 - table.place();
    EXPECT_THAT(parsed(table.add(distance, 8, width)), ElementsAre(AddressRange{0x1000, 8}));
  }
  EXPECT_THAT(parsed(Table{cie_with_encoding(0x02)}.add(0xfff0, 8, 2)),
              ElementsAre(AddressRange{0xfff0, 8}));
  EXPECT_THAT(parsed(Table{cie_with_encoding(0x03)}.add(0xfffffff0, 8, 4)),
              ElementsAre(AddressRange{0xfffffff0, 8}));
}

TEST(UnwindTable, OtherPointersAreLeftOut) {
  // Packed; relative to text, data, function; aligned; indirect; omitted.
  for (const unsigned encoding : {0x01u, 0x09u, 0x2bu, 0x3bu, 0x4bu, 0x50u, 0x9bu, 0xffu}) {
    Table table{cie_with_encoding(encoding)};
    EXPECT_THAT(parsed(table.add(0x1000, 8)), IsEmpty()) << encoding;
  }
}

TEST(UnwindTable, TheEncodingIsFoundAmongOtherData) {
  const std::string personality =
      "\x03"
      "abcd";
  Table table{cie("zPLR", personality + "\x1b" + "\x03")};
  EXPECT_THAT(parsed(table.add(0x1000, 8, 4)), ElementsAre(AddressRange{0x1000, 8}));
}

TEST(UnwindTable, OfOtherAugmentationsNothingIsBelieved) {
  EXPECT_THAT(parsed(Table{cie("zRS", std::string(2, '\0'))}.add(0x1000, 8)), IsEmpty());
  EXPECT_THAT(parsed(Table{cie("zX", std::string(1, '\0'))}.add(0x1000, 8)), IsEmpty());
  EXPECT_THAT(parsed(Table{cie("eh", "")}.add(0x1000, 8)), IsEmpty());
  EXPECT_THAT(parsed(Table{cie("LR", std::string(1, '\0'))}.add(0x1000, 8)), IsEmpty());
  EXPECT_THAT(parsed(Table{cie("zR", "")}.add(0x1000, 8)), IsEmpty());  // without its byte
  EXPECT_THAT(parsed(Table{cie("zP",
                               "\x04"
                               "abc")}
                         .add(0x1000, 8)),
              IsEmpty());
}

// The register of the return address is a byte in version 1, and LEB128 in version 3.
TEST(UnwindTable, ACieIsOfVersionOneOrThree) {
  const auto parsed_with = [](char version, const std::string& reg) {
    const std::string augmentation{"zR\0", 3};
    const std::string content = version + augmentation + "\1\x78" + reg + "\1\x03";
    return parsed(Table{entry(0, content)}.add(0x1000, 8, 4));
  };
  const Ranges expected{{0x1000, 8}};
  EXPECT_EQ(parsed_with(1, "\x90"), expected);
  EXPECT_EQ(parsed_with(3, "\x90\1"), expected);
  for (const char version : {'\0', '\2', '\4', '\5'})
    EXPECT_THAT(parsed_with(version, "\x10"), IsEmpty()) << int{version};
}

TEST(UnwindTable, EachFdeHasTheEncodingOfItsOwnCie) {
  Table table = absolute().add(0x1000, 8);
  const size_t second = table.bytes.size();
  table.bytes += cie_with_encoding(0x03);
  table.bytes += entry(static_cast<uint32_t>(table.bytes.size() + 4 - second),
                       little_endian(0x1010, 4) + little_endian(0x20, 4));
  table.add(0x1040, 8);
  EXPECT_THAT(parsed(table), ElementsAre(AddressRange{0x1000, 8}, AddressRange{0x1010, 0x20},
                                         AddressRange{0x1040, 8}));
}

TEST(UnwindTable, AnFdeWithoutACieOrARangeIsLeftOut) {
  Table table = absolute();
  table.bytes += entry(8, little_endian(0x1000, 8) + little_endian(8, 8));  // to inside the CIE
  table.bytes += entry(0x7fffffff, little_endian(0x1000, 8) + little_endian(8, 8));
  table.add(0x1000, 0).add(~uint64_t{0} - 7, 0x10).add(0x1000, 8, 4).add_raw("").add(0x1008, 8);
  EXPECT_THAT(parsed(table), ElementsAre(AddressRange{0x1008, 8}));
}

TEST(UnwindTable, EntriesOfThe64BitFormArePassedOver) {
  Table table = absolute();
  table.bytes += little_endian(0xffffffff, 4) + little_endian(20, 8);
  table.bytes += little_endian(table.bytes.size(), 4) + little_endian(0x1100, 8);  // to the CIE
  table.bytes += little_endian(8, 8);
  EXPECT_THAT(parsed(table.add(0x1000, 8)), ElementsAre(AddressRange{0x1000, 8}));
}

TEST(UnwindTable, ThatIsCutOffSaysNothing) {
  const std::string whole = absolute().add(0x1000, 8).add(0x1008, 8).bytes;
  const size_t last = 4 + 4 + 16;
  for (size_t cut = 1; cut <= last - 4; ++cut)
    EXPECT_THAT(parsed(whole.substr(0, whole.size() - cut)), IsEmpty()) << cut;
  EXPECT_THAT(parsed(absolute().bytes + little_endian(0xffffffff, 4) + std::string(7, '\1')),
              IsEmpty());
  EXPECT_THAT(parsed(absolute().bytes + little_endian(0xffffffff, 4) + std::string(8, '\xff')),
              IsEmpty());
}

// More letters than data: elfutils 0.188 reads beyond the table here.
TEST(UnwindTable, ACieThatEndsInItsMiddleIsLeftOut) {
  const std::string whole = "\1zPLLLLLLLLLLR" + std::string(1, '\0') + "\1\x78\x10\x3\x3xx";
  for (size_t size = 0; size <= whole.size(); ++size)
    EXPECT_THAT(parsed(Table{entry(0, whole.substr(0, size))}.add(0x1000, 8)), IsEmpty()) << size;
}

// ---- choosing plausible ranges ----

ElfBuilder file_with(const Table& table) {
  ElfBuilder builder;
  builder.add_code_section(".text", 0x1100, 0x400);
  builder.add_section(".eh_frame", SHT_PROGBITS, table.bytes, kTable);
  return builder;
}

UnwindRanges ranges_of(const ElfBuilder& builder) {
  return UnwindRanges(
      on_kernel::must(ElfFile::open(as_file(builder.build()).get(), "/f", "/none")));
}

TEST(UnwindRangesTest, AreFoundByEachOfTheirAddresses) {
  const auto ranges = ranges_of(file_with(absolute().add(0x1180, 0x10).add(0x1100, 0x20)));
  const AddressRange first{0x1100, 0x20}, second{0x1180, 0x10};
  EXPECT_THAT(ranges.all(), ElementsAre(first, second));
  EXPECT_EQ(ranges.range_at(0x1100), first);
  EXPECT_EQ(ranges.range_at(0x111f), first);
  EXPECT_EQ(ranges.range_at(0x1188), second);
  for (const uint64_t address :
       {uint64_t{0}, uint64_t{0x10ff}, uint64_t{0x1120}, uint64_t{0x1190}, ~uint64_t{0}})
    EXPECT_FALSE(ranges.range_at(address)) << address;
}

TEST(UnwindRangesTest, LieInOneExecutableSection) {
  Table table = absolute();
  table.add(0x1100, 0x400).add(0x10f0, 0x10).add(0x10ff, 2).add(0x14ff, 2).add(kTable, 8);
  EXPECT_THAT(ranges_of(file_with(table)).all(), ElementsAre(AddressRange{0x1100, 0x400}));
  ElfBuilder two = file_with(absolute().add(0x14f0, 0x20).add(0x1500, 0x10));
  two.add_code_section(".text.hot", 0x1500, 0x100);
  EXPECT_THAT(ranges_of(two).all(), ElementsAre(AddressRange{0x1500, 0x10}));
}

TEST(UnwindRangesTest, LieInTheFile) {
  ElfBuilder builder = file_with(absolute().add(0x1ff8, 8).add(0x2000, 8));
  builder.add_code_section(".beyond", 0x1ff0, 0x20);
  EXPECT_THAT(ranges_of(builder).all(), IsEmpty());
}

TEST(UnwindRangesTest, AreNotOfTheLinkersStubs) {
  ElfBuilder builder = file_with(absolute()
                                     .add(0x1600, 0x10)
                                     .add(0x1700, 0x10)
                                     .add(0x1800, 0x10)
                                     .add(0x1900, 0x10)
                                     .add(0x1100, 0x10));
  uint64_t address = 0x1600;
  for (const char* name : {".plt", ".plt.sec", ".plt.got", ".iplt"}) {
    builder.add_code_section(name, address, 0x10);
    address += 0x100;
  }
  EXPECT_THAT(ranges_of(builder).all(), ElementsAre(AddressRange{0x1100, 0x10}));
}

TEST(UnwindRangesTest, AreNotThoseThatOverlap) {
  Table table = absolute();
  table.add(0x1100, 0x10).add(0x1110, 0x10);                    // side by side
  table.add(0x1140, 0x40).add(0x1150, 8).add(0x1160, 8);        // one around two
  table.add(0x1200, 0x20).add(0x1210, 0x20).add(0x1230, 0x10);  // in a row, and one after them
  table.add(0x1300, 0x10).add(0x1300, 0x10).add(0x1300, 0x10);  // the same
  table.add(0x1400, 0x10).add(0x1400, 0x20);                    // from the same address
  const auto ranges = ranges_of(file_with(table));
  EXPECT_THAT(ranges.all(), ElementsAre(AddressRange{0x1100, 0x10}, AddressRange{0x1110, 0x10},
                                        AddressRange{0x1230, 0x10}, AddressRange{0x1300, 0x10}));
  EXPECT_FALSE(ranges.range_at(0x1178));
}

TEST(UnwindRangesTest, OfAnObjectAreReadWhenFirstAskedForAndKept) {
  const Fd file = as_file(file_with(absolute().add(0x1100, 0x10)).build());
  const auto open = [&] { return on_kernel::must(ObjectFile::open(file.get(), "/f")); };
  const ObjectFilePtr asked = open(), not_asked = open();
  EXPECT_TRUE(asked->unwind_ranges().range_at(0x1100));
  ASSERT_EQ(::ftruncate(file.get(), 0), 0);
  EXPECT_TRUE(asked->unwind_ranges().range_at(0x1100));
  EXPECT_FALSE(not_asked->unwind_ranges().range_at(0x1100));
}

TEST(UnwindRangesTest, AFileWithoutATableHasNone) {
  ElfBuilder builder;
  builder.add_code_section(".text", 0x1100, 0x400);
  EXPECT_THAT(ranges_of(builder).all(), IsEmpty());
  builder.add_section(".eh_frame", SHT_NOBITS, "", kTable);
  EXPECT_THAT(ranges_of(builder).all(), IsEmpty());
}

}  // namespace
}  // namespace tracectl
