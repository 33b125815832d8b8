// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "daemon/reading/object_file.h"
#include "usdt/pointers.h"

namespace tracectl {

// What data lies at an address, and which pointers are in it when the program starts.
class DataMap {
 public:
  // Borrows the object.
  explicit DataMap(const ObjectFile& object);

  std::optional<AddressRange> variable_around(uint64_t address) const;

  // The pointers that follow one another from the address on, where no symbol says how much belongs
  // together: the tables and vtables of a stripped file, and what lies behind them without a gap.
  std::optional<AddressRange> pointers_from(uint64_t address) const;

  // Whether the word is of the linker's tables, which nobody but the loader writes to.
  bool is_of_linker(uint64_t place) const;

  // Those that the loader fills in.
  const Pointer* pointer_at(uint64_t place) const;
  std::span<const Pointer> pointers_in(const AddressRange& range) const;

  // The words of the file that are not 0. In a file that runs where it is linked for they can be
  // addresses.
  std::vector<uint64_t> words_in(const AddressRange& range) const;

 private:
  const ElfFile& file_;
  const std::vector<AddressRange>& variables_;
  std::vector<Pointer> pointers_;
  std::vector<Section> linkers_tables_;
};

}  // namespace tracectl
