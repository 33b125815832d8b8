// SPDX-License-Identifier: BSD-2-Clause
//
// Small ELF64 files for x86-64, whole or with a damage of one's choice.
#pragma once

#include <elf.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/base/fd.h"

namespace tracectl::on_file {

// A note of .note.stapsdt as it lies in the section, with its header.
std::string stapsdt_note(uint64_t location, uint64_t base, uint64_t semaphore,
                         std::string_view provider, std::string_view name, std::string_view args);

// One that <tracectl/usdt.h> makes beside it. `arguments`: of each its type, a 0, its name, a 0 and a
// byte.
std::string tracectl_note(uint64_t location, uint64_t base, std::string_view arguments);

// A file with one executable segment at kCodeAddress, whose bytes stand at the file's beginning.
class ElfBuilder {
 public:
  static constexpr uint64_t kCodeAddress = 0x1000;
  static constexpr uint64_t kCodeBytes = 0x1000;

  ElfBuilder();

  Elf64_Ehdr header;  // e_shoff and e_shnum are set by build()
  std::vector<Elf64_Phdr> segments;

  // Its number. `address` 0: not loaded.
  size_t add_section(std::string name, uint32_t type, std::string bytes, uint64_t address = 0);
  // Executable, of the file's segment.
  void add_code_section(std::string name, uint64_t address, uint64_t size);
  void add_function(std::string_view name, uint64_t address, uint64_t size);
  void add_object(std::string_view name, uint64_t address);

  // The file's bytes. With `damage` the section headers can be changed at the last moment.
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

// The bytes as a file without a name.
Fd as_file(std::string_view bytes);

}  // namespace tracectl::on_file
