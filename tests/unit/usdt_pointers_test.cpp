// SPDX-License-Identifier: BSD-2-Clause
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "daemon/object/pointers.h"
#include "tests/support/elf_builder.h"

namespace tracectl {
namespace {

using on_file::as_file;
using on_file::ElfBuilder;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr size_t kSymbols = 1, kNames = 2, kRelocations = 3;  // sections

template <class T> std::string bytes_of(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof(value)};
}

std::string symbol(uint32_t name, unsigned type, uint16_t section, uint64_t value) {
  return bytes_of(Elf64_Sym{.st_name = name,
                            .st_info = static_cast<unsigned char>(ELF64_ST_INFO(STB_GLOBAL, type)),
                            .st_other = 0,
                            .st_shndx = section,
                            .st_value = value,
                            .st_size = 8});
}

std::string relocation(uint64_t place, uint32_t type, uint32_t symbol, int64_t addend) {
  return bytes_of(Elf64_Rela{place, ELF64_R_INFO(uint64_t{symbol}, type), addend});
}

// Symbols: 1 own (0x1100), 2 puts in another file, 3 data in another file, 4 a resolver (0x1200).
const std::string kSymbolTable =
    symbol(0, STT_NOTYPE, SHN_UNDEF, 0) + symbol(1, STT_FUNC, SHN_ABS, 0x1100) +
    symbol(5, STT_FUNC, SHN_UNDEF, 0) + symbol(10, STT_OBJECT, SHN_UNDEF, 0) +
    symbol(1, STT_GNU_IFUNC, SHN_ABS, 0x1200);

using Damage = void (*)(std::vector<Elf64_Shdr>&);

void link(std::vector<Elf64_Shdr>& all) {
  all[kSymbols].sh_link = kNames;
  all[kRelocations].sh_link = kSymbols;
  all[kRelocations].sh_flags = SHF_ALLOC;
}

std::vector<Pointer> pointers_of(uint32_t type, const std::string& relocations,
                                 Damage damage = link) {
  ElfBuilder builder;
  builder.add_section(".dynsym", SHT_DYNSYM, kSymbolTable);
  builder.add_section(".dynstr", SHT_STRTAB, std::string("\0own\0puts\0stdout\0", 17));
  builder.add_section(".rel", type, relocations);
  const auto file = ElfFile::open(as_file(builder.build(damage)).get(), "/f", "/none");
  return file ? read_pointers(*file) : std::vector<Pointer>{{.place = 99}};
}

TEST(Pointers, ARelativeOneIsItsAddend) {
  EXPECT_THAT(pointers_of(SHT_RELA, relocation(0x1010, R_X86_64_RELATIVE, 0, 0x1300)),
              ElementsAre(Pointer{.place = 0x1010, .target = 0x1300}));
}

TEST(Pointers, ASymbolOfTheFileIsWhereItIsDefined) {
  for (const uint32_t type : {R_X86_64_64, R_X86_64_GLOB_DAT, R_X86_64_JUMP_SLOT})
    EXPECT_THAT(pointers_of(SHT_RELA, relocation(0x1010, type, 1, 4)),
                ElementsAre(Pointer{.place = 0x1010, .target = 0x1104}));
}

TEST(Pointers, ASymbolOfAnotherFileIsAnImportIfItMayBeAFunction) {
  EXPECT_THAT(pointers_of(SHT_RELA, relocation(0x1010, R_X86_64_JUMP_SLOT, 2, 0) +
                                        relocation(0x1018, R_X86_64_GLOB_DAT, 3, 0)),
              ElementsAre(Pointer{.place = 0x1010, .import = "puts"}));
}

TEST(Pointers, AResolverIsSaidToBeOne) {
  EXPECT_THAT(pointers_of(SHT_RELA, relocation(0x1018, R_X86_64_JUMP_SLOT, 4, 0) +
                                        relocation(0x1010, R_X86_64_IRELATIVE, 0, 0x1200)),
              ElementsAre(Pointer{.place = 0x1010, .target = 0x1200, .by_resolver = true},
                          Pointer{.place = 0x1018, .target = 0x1200, .by_resolver = true}));
}

TEST(Pointers, WhatIsNoAddressOfAWordIsNone) {
  EXPECT_THAT(pointers_of(SHT_RELA, relocation(0x1010, R_X86_64_COPY, 1, 0) +
                                        relocation(0x1010, R_X86_64_DTPMOD64, 1, 0)),
              IsEmpty());
}

TEST(Pointers, PackedOnesHaveTheirTargetsInTheFile) {
  // The builder's code, which contains the words, is nops.
  constexpr uint64_t kNops = 0x9090909090909090;
  const auto found = pointers_of(SHT_RELR, bytes_of(uint64_t{0x1100}) + bytes_of(uint64_t{0b1011}) +
                                               bytes_of(uint64_t{(uint64_t{1} << 63) | 1}) +
                                               bytes_of(uint64_t{0x1ff8}));
  // 0x1108 + 63 words of the first bitmap + the last of the second.
  EXPECT_THAT(found, ElementsAre(Pointer{.place = 0x1100, .target = kNops},
                                 Pointer{.place = 0x1108, .target = kNops},
                                 Pointer{.place = 0x1118, .target = kNops},
                                 Pointer{.place = 0x1108 + 63 * 8 + 62 * 8, .target = kNops},
                                 Pointer{.place = 0x1ff8, .target = kNops}));
}

TEST(Pointers, PackedOnesBehindTheFileAreNone) {
  EXPECT_THAT(pointers_of(SHT_RELR, bytes_of(uint64_t{0x9000}) + bytes_of(UINT64_MAX) + "abc"),
              IsEmpty());
}

TEST(Pointers, DamagedTablesAreReadAsFarAsTheyGo) {
  const std::string one = relocation(0x1010, R_X86_64_JUMP_SLOT, 2, 0);
  EXPECT_THAT(pointers_of(SHT_RELA, relocation(0x1010, R_X86_64_64, 5, 0) +
                                        relocation(0x1010, R_X86_64_64, UINT32_MAX, 0)),
              IsEmpty());
  EXPECT_THAT(pointers_of(SHT_RELA, one.substr(0, 23)), IsEmpty());
  EXPECT_THAT(pointers_of(SHT_RELA, one,
                          [](auto& all) {
                            link(all);
                            all[kRelocations].sh_link = 77;
                          }),
              IsEmpty());
  EXPECT_THAT(pointers_of(SHT_RELA, one,
                          [](auto& all) {
                            link(all);
                            all[kRelocations].sh_link = kNames;
                          }),
              IsEmpty());
  EXPECT_THAT(pointers_of(SHT_RELA, one,
                          [](auto& all) {
                            link(all);
                            all[kNames].sh_size = 7;
                          }),
              IsEmpty());
}

// Tables from `ld --emit-relocs` are for other tools, not for the loader.
TEST(Pointers, TablesThatAreNotLoadedAreNotRead) {
  EXPECT_THAT(pointers_of(SHT_RELA, relocation(0x1010, R_X86_64_RELATIVE, 0, 0x1300),
                          [](auto& all) { all[kSymbols].sh_link = kNames; }),
              IsEmpty());
}

}  // namespace
}  // namespace tracectl
