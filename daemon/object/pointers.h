// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "daemon/object/elf_file.h"

namespace tracectl {

// A word of a file that the loader fills with an address, as specified by a relocation.
struct Pointer {
  uint64_t place = 0;        // of the word, in the file's own address space
  uint64_t target = 0;       // in this file; 0 for an import
  std::string import = {};   // the symbol, if it is of another file; else empty
  bool by_resolver = false;  // the loader calls `target`, which returns the address (STT_GNU_IFUNC)

  bool operator==(const Pointer&) const = default;
};

// Sorted by place, one for each. Without pointers to data of other files, and without values that
// are not addresses of 8 bytes. Reads the loaded sections SHT_RELA and SHT_RELR; formats: System V
// ABI, and its AMD64 supplement, 4.4. A symbol that this file defines is resolved to this file,
// although another file may take precedence when the program starts.
std::vector<Pointer> read_pointers(const ElfFile& file);

}  // namespace tracectl
