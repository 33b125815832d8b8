// SPDX-License-Identifier: BSD-2-Clause
#include "tests/support/elf_builder.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <stdexcept>

namespace tracectl::on_file {
namespace {

template <class T> std::string bytes_of(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof(value)};
}

void pad_to(std::string& bytes, size_t alignment) {
  bytes.resize((bytes.size() + alignment - 1) / alignment * alignment);
}

std::string note_of(const std::string& owner, uint32_t type, const std::string& body) {
  std::string note = bytes_of(static_cast<uint32_t>(owner.size() + 1)) +
                     bytes_of(static_cast<uint32_t>(body.size())) + bytes_of(type) + owner + '\0';
  pad_to(note, 4);
  note += body;
  pad_to(note, 4);
  return note;
}

}  // namespace

std::string stapsdt_note(uint64_t location, uint64_t base, uint64_t semaphore,
                         std::string_view provider, std::string_view name, std::string_view args) {
  std::string body = bytes_of(location) + bytes_of(base) + bytes_of(semaphore);
  for (const std::string_view text : {provider, name, args}) body += std::string(text) + '\0';
  return note_of("stapsdt", 3, body);
}

std::string tracectl_note(uint64_t location, uint64_t base, std::string_view arguments) {
  return note_of("tracectl", 1, bytes_of(location) + bytes_of(base) + std::string(arguments));
}

ElfBuilder::ElfBuilder() : header{}, names_(1, '\0') {
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = ET_DYN;
  header.e_machine = EM_X86_64;
  header.e_version = EV_CURRENT;
  header.e_ehsize = sizeof(Elf64_Ehdr);
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_phoff = sizeof(Elf64_Ehdr);
  Elf64_Phdr code{};
  code.p_type = PT_LOAD;
  code.p_flags = PF_R | PF_X;
  code.p_vaddr = kCodeAddress;
  code.p_filesz = code.p_memsz = kCodeBytes;
  segments.push_back(code);
  symbols_.resize(sizeof(Elf64_Sym));  // the first entry is empty
}

size_t ElfBuilder::add_section(std::string name, uint32_t type, std::string bytes,
                               uint64_t address) {
  Elf64_Shdr section{};
  section.sh_type = type;
  section.sh_addr = address;
  section.sh_addralign = 1;
  sections_.push_back({std::move(name), std::move(bytes), section});
  return sections_.size();
}

void ElfBuilder::add_code_section(std::string name, uint64_t address, uint64_t size) {
  add_section(std::move(name), SHT_PROGBITS, std::string(size, '\x90'), address);
  sections_.back().header.sh_flags = SHF_ALLOC | SHF_EXECINSTR;
}

void ElfBuilder::add_symbol(std::string_view name, uint64_t address, uint64_t size, unsigned type) {
  Elf64_Sym symbol{};
  symbol.st_name = static_cast<Elf64_Word>(names_.size());
  symbol.st_info = static_cast<unsigned char>(ELF64_ST_INFO(STB_GLOBAL, type));
  symbol.st_shndx = SHN_ABS;
  symbol.st_value = address;
  symbol.st_size = size;
  symbols_ += bytes_of(symbol);
  names_ += std::string(name) + '\0';
}

void ElfBuilder::add_function(std::string_view name, uint64_t address, uint64_t size) {
  add_symbol(name, address, size, STT_FUNC);
}

void ElfBuilder::add_object(std::string_view name, uint64_t address) {
  add_symbol(name, address, 8, STT_OBJECT);
}

std::string ElfBuilder::build(void (*damage)(std::vector<Elf64_Shdr>&)) const {
  auto sections = sections_;
  Elf64_Shdr table{};
  table.sh_addralign = 8;
  table.sh_type = SHT_SYMTAB;
  table.sh_entsize = sizeof(Elf64_Sym);
  table.sh_link = static_cast<Elf64_Word>(sections.size() + 2);
  sections.push_back({".symtab", symbols_, table});
  Elf64_Shdr text{};
  text.sh_addralign = 1;
  text.sh_type = SHT_STRTAB;
  sections.push_back({".strtab", names_, text});
  sections.push_back({".shstrtab", {}, text});

  std::string file(kCodeBytes, '\x90');
  std::string names(1, '\0');
  std::vector<Elf64_Shdr> headers(1);
  for (Named& section : sections) {
    section.header.sh_name = static_cast<Elf64_Word>(names.size());
    names += section.name + '\0';
    if (section.name == ".shstrtab") section.bytes = names;
    pad_to(file, 8);
    section.header.sh_offset = file.size();
    section.header.sh_size = section.bytes.size();
    file += section.bytes;
    headers.push_back(section.header);
  }
  if (damage) damage(headers);
  pad_to(file, 8);
  Elf64_Ehdr start = header;
  start.e_phnum = static_cast<Elf64_Half>(segments.size());
  start.e_shoff = file.size();
  start.e_shnum = static_cast<Elf64_Half>(headers.size());
  start.e_shstrndx = static_cast<Elf64_Half>(headers.size() - 1);
  for (const Elf64_Shdr& one : headers) file += bytes_of(one);
  file.replace(0, sizeof(start), bytes_of(start));
  for (size_t i = 0; i < segments.size(); ++i)
    file.replace(sizeof(start) + i * sizeof(Elf64_Phdr), sizeof(Elf64_Phdr), bytes_of(segments[i]));
  return file;
}

Fd as_file(std::string_view bytes) {
  Fd fd{::memfd_create("tracectl-test", MFD_CLOEXEC)};
  if (!fd || ::write(fd.get(), bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size()))
    throw std::runtime_error("cannot write a file in memory");
  return fd;
}

}  // namespace tracectl::on_file
