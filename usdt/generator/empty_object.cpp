// SPDX-License-Identifier: BSD-2-Clause
//
// Sources of the layout: the System V gABI for the file, the psABI supplement of x86-64 ("Program Property") for the
// note.
#include "usdt/generator/empty_object.h"

#include <elf.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "usdt/generator/machine.h"

namespace tracectl::generator {
namespace {

constexpr uint32_t kBothFeatures = 3;  // IBT and SHSTK, BTI and PAC

// Without this note the linked program would lose the features.
struct PropertyNote {
  uint32_t name_size = 4;
  uint32_t data_size = 16;
  uint32_t type = 5;  // NT_GNU_PROPERTY_TYPE_0
  char name[4] = {'G', 'N', 'U', 0};
  uint32_t property = property_of_features();
  uint32_t property_size = 4;
  uint32_t value = kBothFeatures;
  uint32_t padding = 0;
};

constexpr std::string_view kNames{"\0.note.GNU-stack\0.note.gnu.property\0.shstrtab\0", 46};
constexpr Elf64_Word kNameOfStack = 1;
constexpr Elf64_Word kNameOfProperty = 17;
constexpr Elf64_Word kNameOfNames = 36;
constexpr Elf64_Half kSections = 4;

struct File {
  Elf64_Ehdr header{};
  PropertyNote note;
  std::array<char, 48> names{};
  std::array<Elf64_Shdr, kSections> sections{};
};
static_assert(sizeof(File) ==
              sizeof(Elf64_Ehdr) + sizeof(PropertyNote) + 48 + kSections * sizeof(Elf64_Shdr));

Elf64_Ehdr header_of_file() {
  Elf64_Ehdr header{};
  std::string_view{ELFMAG}.copy(reinterpret_cast<char*>(header.e_ident), SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = ET_REL;
  header.e_machine = elf_machine();
  header.e_version = EV_CURRENT;
  header.e_shoff = offsetof(File, sections);
  header.e_ehsize = sizeof(Elf64_Ehdr);
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = kSections;
  header.e_shstrndx = kSections - 1;
  return header;
}

Elf64_Shdr section(Elf64_Word name, Elf64_Word type, Elf64_Off offset, Elf64_Xword size) {
  Elf64_Shdr made{};
  made.sh_name = name;
  made.sh_type = type;
  made.sh_offset = offset;
  made.sh_size = size;
  made.sh_addralign = 1;
  return made;
}

}  // namespace

std::string empty_object() {
  File file;
  file.header = header_of_file();
  kNames.copy(file.names.data(), kNames.size());
  file.sections[1] = section(kNameOfStack, SHT_PROGBITS, offsetof(File, note), 0);
  file.sections[2] = section(kNameOfProperty, SHT_NOTE, offsetof(File, note), sizeof(PropertyNote));
  file.sections[2].sh_flags = SHF_ALLOC;
  file.sections[2].sh_addralign = 8;
  file.sections[3] = section(kNameOfNames, SHT_STRTAB, offsetof(File, names), kNames.size());
  return {reinterpret_cast<const char*>(&file), sizeof(file)};
}

}  // namespace tracectl::generator
