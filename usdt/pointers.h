// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "usdt/elf_file.h"

namespace tracectl {

// A word of a file that the loader fills with an address, as a relocation tells it to.
struct Pointer {
  uint64_t place = 0;        // of the word, in the file's own address space
  uint64_t target = 0;       // in this file; 0 for an import
  std::string import = {};   // the symbol, where another file has to define it; else empty
  bool by_resolver = false;  // `target` is called, and returns the address (STT_GNU_IFUNC)

  bool operator==(const Pointer&) const = default;
};

// Sorted by place, one for each. Left out are pointers to data of other files, and what is no
// address of 8 bytes. Read are the loaded sections SHT_RELA and SHT_RELR; formats: System V ABI,
// and its AMD64 supplement, 4.4. A symbol that this file defines is taken for this file's own,
// although another may be put before it when the program is started.
std::vector<Pointer> read_pointers(const ElfFile& file);

}  // namespace tracectl
