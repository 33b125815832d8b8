// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/object/notes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/elf_builder.h"

namespace tracectl {
namespace {

using on_file::as_file;
using on_file::ElfBuilder;
using on_file::stapsdt_note;
using ::testing::HasSubstr;

constexpr uint64_t kBase = 0x2000;

Result<std::vector<RawNote>> notes_in(std::string_view bytes) {
  return parse_notes({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()});
}

Result<std::vector<UsdtSite>> sites_of(const ElfBuilder& builder) {
  auto file = ElfFile::open(as_file(builder.build()).get(), "/f", "/none");
  if (!file) return file.error();
  return read_usdt_sites(*file);
}

TEST(Notes, EachIsReadWhole) {
  const auto notes =
      notes_in(stapsdt_note(0x1010, kBase, 0x3000, "python", "gc__start", "-4@%edi") +
               stapsdt_note(0x1020, kBase, 0, "p", "n", ""));
  ASSERT_TRUE(notes) << notes.error().message;
  ASSERT_EQ(notes->size(), 2u);
  EXPECT_EQ((*notes)[0].location, 0x1010u);
  EXPECT_EQ((*notes)[0].base, kBase);
  EXPECT_EQ((*notes)[0].semaphore, 0x3000u);
  EXPECT_EQ((*notes)[0].provider, "python");
  EXPECT_EQ((*notes)[0].name, "gc__start");
  EXPECT_EQ((*notes)[0].args, "-4@%edi");
  EXPECT_EQ((*notes)[1].args, "");
}

TEST(Notes, NotesOfOthersArePassedOver) {
  std::string foreign = stapsdt_note(1, 2, 3, "a", "b", "c");
  foreign.replace(12, 7, "someone");
  std::string other_type = stapsdt_note(1, 2, 3, "a", "b", "c");
  other_type[8] = 4;
  const auto notes = notes_in(foreign + other_type + stapsdt_note(1, 2, 3, "p", "n", ""));
  ASSERT_TRUE(notes);
  ASSERT_EQ(notes->size(), 1u);
  EXPECT_EQ((*notes)[0].provider, "p");
}

TEST(Notes, CutAnywhereTheyAreRefusedOrEndEarly) {
  const std::string whole = stapsdt_note(1, 2, 3, "provider", "name", "-4@%edi 8@8(%rsp)");
  ASSERT_EQ(whole.back(), '\0');  // ends the arguments: there is no padding to cut off
  ASSERT_EQ(*(whole.end() - 2), ')');
  for (size_t length = 0; length < whole.size(); ++length) {
    const auto notes = notes_in(whole.substr(0, length));
    // Less than a header counts as padding at the section's end.
    EXPECT_TRUE(!notes || (notes->empty() && length < 12)) << length;
  }
}

TEST(Notes, TheErrorNamesTheNoteAtFault) {
  std::string second = stapsdt_note(1, 2, 3, "p", "n", "");
  second[4] = 127;
  const std::string first = stapsdt_note(1, 2, 3, "p", "n", "");
  const auto notes = notes_in(first + second);
  ASSERT_FALSE(notes);
  EXPECT_THAT(notes.error().message, HasSubstr("at byte " + std::to_string(first.size())));
  EXPECT_THAT(notes.error().message, HasSubstr("longer than the section"));
}

TEST(Notes, LengthsThatWouldOverflowAreRefused) {
  std::string note = stapsdt_note(1, 2, 3, "p", "n", "");
  for (const size_t at : {0, 4}) {
    std::string absurd = note;
    absurd.replace(at, 4, "\xff\xff\xff\xff");
    EXPECT_FALSE(notes_in(absurd)) << at;
  }
}

TEST(Notes, ANameIsNeeded) {
  EXPECT_FALSE(notes_in(stapsdt_note(1, 2, 3, "", "n", "")));
  EXPECT_FALSE(notes_in(stapsdt_note(1, 2, 3, "p", "", "")));
  EXPECT_FALSE(notes_in(stapsdt_note(1, 2, 3, std::string(300, 'p'), "n", "")));
}

TEST(UsdtSites, MoveWithTheBaseSection) {
  ElfBuilder builder;
  builder.add_section(".note.stapsdt", SHT_NOTE,
                      stapsdt_note(0x1010, kBase, 0x1800, "p", "n", "4@counter(%rip)"));
  builder.add_section(".stapsdt.base", SHT_PROGBITS, std::string(1, '\0'), kBase + 0x20);
  builder.add_object("counter", 0x4000);
  const auto sites = sites_of(builder);
  ASSERT_TRUE(sites) << sites.error().message;
  ASSERT_EQ(sites->size(), 1u);
  EXPECT_EQ((*sites)[0].address, 0x1030u);
  EXPECT_EQ((*sites)[0].offset, 0x30u);
  EXPECT_EQ((*sites)[0].semaphore, 0x820u);
  ASSERT_EQ((*sites)[0].args.size(), 1u);
  EXPECT_EQ((*sites)[0].args[0].offset, 0x4000);  // symbols have their current addresses
}

TEST(UsdtSites, AreWhereTheNoteSaysWithoutABaseSection) {
  ElfBuilder builder;
  builder.add_section(".note.stapsdt", SHT_NOTE, stapsdt_note(0x1010, kBase, 0, "p", "n", ""));
  const auto sites = sites_of(builder);
  ASSERT_TRUE(sites);
  ASSERT_EQ(sites->size(), 1u);
  EXPECT_EQ((*sites)[0].offset, 0x10u);
  EXPECT_FALSE((*sites)[0].semaphore);
}

TEST(UsdtSites, OutsideOfTheFileAreRefusedByName) {
  ElfBuilder code;
  code.add_section(".note.stapsdt", SHT_NOTE, stapsdt_note(0x9000, 0, 0, "p", "far", ""));
  const auto far = sites_of(code);
  ASSERT_FALSE(far);
  EXPECT_THAT(far.error().message, HasSubstr("p:far lies outside of the file's code"));
  ElfBuilder data;
  data.add_section(".note.stapsdt", SHT_NOTE, stapsdt_note(0x1010, 0, 0x9000, "p", "n", ""));
  const auto semaphore = sites_of(data);
  ASSERT_FALSE(semaphore);
  EXPECT_THAT(semaphore.error().message, HasSubstr("the semaphore of p:n lies outside"));
}

TEST(UsdtSites, AFileWithoutNotesHasNone) {
  const auto sites = sites_of(ElfBuilder{});
  ASSERT_TRUE(sites);
  EXPECT_TRUE(sites->empty());
}

}  // namespace
}  // namespace tracectl
