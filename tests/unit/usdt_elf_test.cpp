// SPDX-License-Identifier: BSD-2-Clause
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "daemon/object/elf_file.h"
#include "daemon/object/notes.h"
#include "tests/support/elf_builder.h"

namespace tracectl {
namespace {

using on_file::as_file;
using on_file::ElfBuilder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Result<ElfFile> open(std::string_view bytes) {
  return ElfFile::open(as_file(bytes).get(), "/f", "/none");
}

ElfBuilder two_functions() {
  ElfBuilder builder;
  builder.add_function("first", 0x1100, 0x20);
  builder.add_function("second", 0x1200, 0x40);
  builder.add_object("data", 0x1300);
  return builder;
}

void expect_refused(const Result<ElfFile>& file, const char* why) {
  ASSERT_FALSE(file);
  EXPECT_THAT(file.error().message, HasSubstr("/f"));
  EXPECT_THAT(file.error().message, HasSubstr(why));
}

TEST(ElfFileTest, GivesFunctionsByAddressWithTheirPlaceInTheFile) {
  const auto file = open(two_functions().build());
  ASSERT_TRUE(file) << file.error().message;
  const std::vector<Function> expected{{"first", 0x1100, 0x20, 0x100, false},
                                       {"second", 0x1200, 0x40, 0x200, false}};
  EXPECT_EQ(file->functions(), expected);
  ASSERT_TRUE(file->function_at(0x123f));
  EXPECT_EQ(file->function_at(0x123f)->name, "second");
  EXPECT_FALSE(file->function_at(0x1240));
  EXPECT_FALSE(file->function_at(0x10ff));
  EXPECT_EQ(file->symbol_address("data"), 0x1300u);
  EXPECT_FALSE(file->symbol_address("nothing"));
}

TEST(ElfFileTest, VariablesAreWhatSymbolsOfDataCoverInTheFile) {
  ElfBuilder builder = two_functions();
  builder.add_object("before", 0x1280);
  builder.add_object("at the end", 0x1ffc);
  builder.add_object("outside", 0x2000);
  const auto file = open(builder.build());
  ASSERT_TRUE(file);
  EXPECT_THAT(file->variables(), ElementsAre(AddressRange{0x1280, 8}, AddressRange{0x1300, 8},
                                             AddressRange{0x1ffc, 4}));
  EXPECT_FALSE(file->is_fixed());
  builder.header.e_type = ET_EXEC;
  EXPECT_TRUE(open(builder.build())->is_fixed());
}

TEST(ElfFileTest, WhatIsNotInExecutableCodeIsNoFunction) {
  ElfBuilder builder;
  builder.add_function("outside", 0x9000, 8);
  builder.add_function("absolute", 0, 8);
  EXPECT_TRUE(open(builder.build())->functions().empty());
  builder.segments[0].p_flags = PF_R;
  builder.add_function("inside", 0x1100, 8);
  EXPECT_TRUE(open(builder.build())->functions().empty());
}

TEST(ElfFileTest, ASizeThatLeavesTheSegmentIsCut) {
  ElfBuilder builder;
  builder.add_function("long", 0x1ff0, 0x100000);
  const auto file = open(builder.build());
  ASSERT_TRUE(file);
  ASSERT_EQ(file->functions().size(), 1u);
  EXPECT_EQ(file->functions()[0].size, 0x10u);
}

TEST(ElfFileTest, WhatIsNoElfFileIsCalledSo) {
  expect_refused(open("#!/bin/sh\n"), "is not an ELF file");
  expect_refused(open(""), "is not an ELF file");
  expect_refused(open("\x7f"
                      "ELF"),
                 "is not an ELF file");
}

TEST(ElfFileTest, OtherMachinesAreNamed) {
  const auto refused = [](const char* why, auto change) {
    ElfBuilder builder;
    change(builder.header);
    expect_refused(open(builder.build()), why);
  };
  refused("aarch64", [](Elf64_Ehdr& header) { header.e_machine = EM_AARCH64; });
  refused("machine 4711", [](Elf64_Ehdr& header) { header.e_machine = 4711; });
  refused("neither an executable nor a shared library",
          [](Elf64_Ehdr& header) { header.e_type = ET_REL; });
}

TEST(ElfFileTest, ABigEndianFileIsNamed) {
  std::string bytes = ElfBuilder{}.build().substr(0, sizeof(Elf64_Ehdr));
  bytes[EI_DATA] = ELFDATA2MSB;
  bytes.replace(0x28, 8, 8, '\0');  // no section headers
  expect_refused(open(bytes), "big-endian");
}

TEST(ElfFileTest, AFileCutAnywhereIsRefused) {
  const std::string whole = two_functions().build();
  for (size_t length = 0; length < whole.size(); length += 61)
    EXPECT_FALSE(open(std::string_view(whole).substr(0, length))) << length;
  expect_refused(open(std::string_view(whole).substr(0, whole.size() - 1)),
                 "its section headers lie behind them");
}

TEST(ElfFileTest, DamagedSectionHeadersAreNamed) {
  const auto refused = [](const char* why, void (*damage)(std::vector<Elf64_Shdr>&)) {
    expect_refused(open(two_functions().build(damage)), why);
  };
  refused("section 1 ends behind the file", [](auto& all) { all[1].sh_size = UINT64_MAX; });
  refused("section 2 ends behind the file", [](auto& all) { all[2].sh_offset = 1ull << 40; });
  refused("section 1 has its names in a section 99", [](auto& all) { all[1].sh_link = 99; });
  ElfBuilder entry;
  entry.header.e_shentsize = 40;
  expect_refused(open(entry.build()), "40 bytes each, not 64");
}

TEST(ElfFileTest, NamesThatDoNotFitTheirTableAreNoNames) {
  const auto functions = [](void (*damage)(std::vector<Elf64_Shdr>&)) {
    const auto file = open(two_functions().build(damage));
    return file ? file->functions().size() : 99;
  };
  EXPECT_EQ(functions([](auto& all) { all[2].sh_size = 0; }), 0u);
  EXPECT_EQ(functions([](auto& all) { all[2].sh_size = 8; }), 1u);
  EXPECT_EQ(functions([](auto& all) { all[1].sh_link = 1; }), 0u);
}

TEST(ElfFileTest, SegmentsBehindTheEndAreRefused) {
  ElfBuilder builder;
  builder.segments[0].p_filesz = 1ull << 40;
  expect_refused(open(builder.build()), "a segment ends behind them");
  builder.segments.clear();
  expect_refused(open(builder.build()), "has nothing that is loaded");
}

TEST(ElfFileTest, ReadsNoFurtherThanItsEnd) {
  const std::string bytes = ElfBuilder{}.build();
  const auto file = open(bytes);
  ASSERT_TRUE(file);
  EXPECT_EQ(file->read_at_most(bytes.size() - 3, 100)->size(), 3u);
  EXPECT_FALSE(file->read_at_most(bytes.size(), 1));
  EXPECT_FALSE(file->read_at_most(UINT64_MAX, 1));
  EXPECT_FALSE(file->read_at_most(0, 0));
}

TEST(ElfFileTest, AddressesAndOffsetsAreOfTheSegments) {
  const auto file = open(ElfBuilder{}.build());
  ASSERT_TRUE(file);
  EXPECT_EQ(file->offset_of(0x1fff), 0xfffu);
  EXPECT_FALSE(file->offset_of(0x2000));
  EXPECT_FALSE(file->offset_of(0xfff));
  EXPECT_EQ(file->address_of(0xfff), 0x1fffu);
  EXPECT_FALSE(file->address_of(0x1000));
}

// ---- the debug file of a stripped one ----

std::string build_id_note(std::string_view id) {
  const Elf64_Nhdr header{4, static_cast<Elf64_Word>(id.size()), NT_GNU_BUILD_ID};
  return std::string(reinterpret_cast<const char*>(&header), sizeof(header)) +
         std::string("GNU\0", 4) + std::string(id);
}

TEST(DebugFile, IsFoundByBuildIdAndOnlyIfItIsTheFiles) {
  char root[] = "/tmp/tracectl-test-XXXXXX";
  ASSERT_NE(::mkdtemp(root), nullptr);
  const std::filesystem::path folder = std::filesystem::path(root) / ".build-id" / "ab";
  std::filesystem::create_directories(folder);
  const auto names = [&](std::string_view id_of_debug_file) {
    ElfBuilder stripped, debug = two_functions();
    stripped.add_section(".note.gnu.build-id", SHT_NOTE, build_id_note("\xab\xcd\xef\x01"));
    debug.add_section(".note.gnu.build-id", SHT_NOTE, build_id_note(id_of_debug_file));
    std::ofstream(folder / "cdef01.debug", std::ios::binary) << debug.build();
    const auto file = ElfFile::open(as_file(stripped.build()).get(), "/f", root);
    std::vector<std::string> found;
    for (const Function& function : file->functions()) found.push_back(function.name);
    return found;
  };
  EXPECT_THAT(names("\xab\xcd\xef\x01"), ElementsAre("first", "second"));
  EXPECT_THAT(names("\xab\xcd\xef\x02"), IsEmpty());
  std::filesystem::remove_all(root);
}

}  // namespace
}  // namespace tracectl
