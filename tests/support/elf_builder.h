// SPDX-License-Identifier: BSD-2-Clause
//
// Small ELF64 files for x86-64, valid or with a chosen damage.
#pragma once

#include <elf.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/base/fd.h"

namespace tracectl::on_file {

// A note of .note.stapsdt as in the section, with its header.
std::string stapsdt_note(uint64_t location, uint64_t base, uint64_t semaphore,
                         std::string_view provider, std::string_view name, std::string_view args);

// The additional note of <tracectl/usdt.h>. `arguments`: for each its type, a 0, its name, a 0 and a byte.
std::string tracectl_note(uint64_t location, uint64_t base, std::string_view arguments);

// A file with one executable segment at kCodeAddress, whose bytes are at the beginning of the file.
class ElfBuilder {
 public:
  static constexpr uint64_t kCodeAddress = 0x1000;
  static constexpr uint64_t kCodeBytes = 0x1000;

  ElfBuilder();

  Elf64_Ehdr header;  // e_shoff and e_shnum are set by build()
  std::vector<Elf64_Phdr> segments;

  // Returns the section's number. `address` 0: not loaded.
  size_t add_section(std::string name, uint32_t type, std::string bytes, uint64_t address = 0);
  // Executable, in the file's segment.
  void add_code_section(std::string name, uint64_t address, uint64_t size);
  void add_function(std::string_view name, uint64_t address, uint64_t size);
  void add_object(std::string_view name, uint64_t address);

  // The file's bytes. `damage` can change the section headers before they are written.
  std::string build(void (*damage)(std::vector<Elf64_Shdr>&) = nullptr) const;

 private:
  struct Named {
    std::string name, bytes;
    Elf64_Shdr header;
  };

  std::vector<Named> sections_;
  std::string symbols_, names_;

  void add_symbol(std::string_view name, uint64_t address, uint64_t size, unsigned type);
};

// An unnamed file with these bytes.
Fd as_file(std::string_view bytes);

}  // namespace tracectl::on_file
