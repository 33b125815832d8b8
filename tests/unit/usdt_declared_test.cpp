// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/object/declared.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/object/notes.h"
#include "tests/support/elf_builder.h"

namespace tracectl {
namespace {

using on_file::as_file;
using on_file::ElfBuilder;
using on_file::stapsdt_note;
using on_file::tracectl_note;
using ::testing::HasSubstr;
using Kind = Argument::Kind;
using namespace std::string_literals;

constexpr uint64_t kSite = ElfBuilder::kCodeAddress + 0x10;

Result<std::vector<DeclaredProbe>> declared_in(std::string_view bytes) {
  return parse_declared({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()});
}

Arguments unnamed(size_t count) { return Arguments(count); }

Arguments declared(const std::string& type, unsigned words = 1) {
  Arguments arguments = unnamed(words);
  declare(arguments, {.location = 0, .base = 0, .arguments = {{type, "it", words}}});
  return arguments;
}

TEST(Declared, EachIsReadWhole) {
  const auto probes =
      declared_in(tracectl_note(0x1010, 0x2000, "const char*\0query\0\1int\0rows\0\1"s) +
                  stapsdt_note(1, 2, 3, "p", "n", "") + tracectl_note(0x1020, 0, ""));
  ASSERT_TRUE(probes) << probes.error().message;
  ASSERT_EQ(probes->size(), 2u);
  const DeclaredProbe& first = probes->front();
  EXPECT_EQ(first.location, 0x1010u);
  EXPECT_EQ(first.base, 0x2000u);
  ASSERT_EQ(first.arguments.size(), 2u);
  EXPECT_EQ(first.arguments[0].type, "const char*");
  EXPECT_EQ(first.arguments[0].name, "query");
  EXPECT_EQ(first.arguments[1].words, 1u);
  EXPECT_EQ((*probes)[1].arguments.size(), 0u);
}

TEST(Declared, CutAnywhereTheyAreRefused) {
  const std::string arguments = "char*\0a\0\1std::string_view\0b\0\2"s;
  for (size_t length = 1; length < arguments.size(); ++length) {
    const bool is_whole = arguments[length - 1] == 1 && length == 9;
    EXPECT_EQ(bool{declared_in(tracectl_note(1, 2, arguments.substr(0, length)))}, is_whole)
        << length;
  }
  const std::string whole = tracectl_note(1, 2, arguments);
  for (size_t length = 12; length + 3 < whole.size(); ++length)
    EXPECT_FALSE(declared_in(whole.substr(0, length))) << length;
}

TEST(Declared, WhatNoHeaderMakesIsRefused) {
  EXPECT_FALSE(declared_in(tracectl_note(1, 2, "int\0a\0\0"s)));
  EXPECT_FALSE(declared_in(tracectl_note(1, 2, "int\0a\0\3"s)));
  EXPECT_FALSE(declared_in(tracectl_note(1, 2, std::string(1000, 'x') + "\0a\0\1"s)));
  std::string many;
  for (int i = 0; i < 13; ++i) many += "int\0a\0\1"s;
  const auto refused = declared_in(tracectl_note(1, 2, many));
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("at byte 0 of .note.tracectl"));
}

TEST(Declared, ATypeSaysHowAValueIsShown) {
  for (const char* text : {"char*", "const char*", "char const *", "const char *const", "char *"})
    EXPECT_EQ(declared(text)[0].kind, Kind::text) << text;
  EXPECT_TRUE(declared("const char*")[0].is_shown_as_text);
  for (const char* pointer : {"void*", "char**", "const char **", "unsigned char*", "struct s *"})
    EXPECT_EQ(declared(pointer)[0].kind, Kind::pointer) << pointer;
  EXPECT_FALSE(declared("void*")[0].is_shown_as_text);
  EXPECT_EQ(declared("bool")[0].kind, Kind::boolean);
  EXPECT_EQ(declared("_Bool")[0].kind, Kind::boolean);
  EXPECT_EQ(declared("char")[0].kind, Kind::character);
  for (const char* integer : {"int", "uint32_t", "enum color", "unsigned char", "charlie_t", ""})
    EXPECT_EQ(declared(integer)[0].kind, Kind::integer) << integer;
}

TEST(Declared, AViewIsATextWithItsLengthBehindIt) {
  const Arguments view = declared("std::string_view", 2);
  EXPECT_EQ(view[0].name, "it");
  EXPECT_EQ(view[0].declared_type, "std::string_view");
  EXPECT_TRUE(view[0].is_shown_as_text);
  EXPECT_TRUE(view[0].length_behind);
  EXPECT_EQ(view[1].name, "it_size");
  EXPECT_FALSE(view[1].is_shown_as_text);
}

TEST(Declared, AnotherNumberOfArgumentsIsLeftAlone) {
  Arguments three = unnamed(3);
  declare(three, {.location = 0, .base = 0, .arguments = {{"int", "a", 1}, {"int", "b", 1}}});
  EXPECT_EQ(three, unnamed(3));
}

// A file with a site and this declaration.
std::vector<UsdtSite> sites_with(const std::string& section) {
  ElfBuilder builder;
  builder.add_section(".note.stapsdt", SHT_NOTE,
                      stapsdt_note(kSite, 0, 0, "shop", "order", "8@%rdi -4@%rsi"));
  builder.add_section(".note.tracectl", SHT_NOTE, section);
  const auto file = ElfFile::open(as_file(builder.build()).get(), "/f", "/none");
  const auto sites = read_usdt_sites(*file);
  return sites ? *sites : std::vector<UsdtSite>{};
}

TEST(Declared, ArgumentsOfASiteAreNamedByTheNoteBesideIts) {
  const std::string arguments = "const char*\0query\0\1int\0rows\0\1"s;
  const auto named = sites_with(tracectl_note(kSite, 0, arguments));
  ASSERT_EQ(named.size(), 1u);
  EXPECT_EQ(named[0].args[0].name, "query");
  EXPECT_EQ(named[0].args[1].name, "rows");
  EXPECT_TRUE(named[0].args[1].is_signed);
  EXPECT_EQ(sites_with(tracectl_note(kSite + 8, 0, arguments)).at(0).args[0].name, "");
}

TEST(Declared, ProbesWorkWithoutNotesThatCannotBeRead) {
  const auto sites = sites_with(tracectl_note(kSite, 0, "int\0a"s));
  ASSERT_EQ(sites.size(), 1u);
  EXPECT_EQ(sites[0].args[0].name, "");
}

}  // namespace
}  // namespace tracectl
