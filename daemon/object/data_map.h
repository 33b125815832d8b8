// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "daemon/object/object_file.h"
#include "daemon/object/pointers.h"

namespace tracectl {

// The data around an address, and the pointers in it when the program starts.
class DataMap {
 public:
  // Borrows the object.
  explicit DataMap(const ObjectFile& object);

  std::optional<AddressRange> variable_around(uint64_t address) const;

  // The contiguous pointers from the address on, for files whose symbols do not say which belong
  // together: the tables and vtables of a stripped file, with whatever follows without a gap.
  std::optional<AddressRange> pointers_from(uint64_t address) const;

  // Whether the word belongs to the linker's tables, which only the loader writes.
  bool is_of_linker(uint64_t place) const;

  // Pointers that the loader fills in.
  const Pointer* pointer_at(uint64_t place) const;
  std::span<const Pointer> pointers_in(const AddressRange& range) const;

  // The words of the file that are not 0. In a file that runs at the address it is linked for, they
  // can be addresses.
  std::vector<uint64_t> words_in(const AddressRange& range) const;

 private:
  const ElfFile& file_;
  const std::vector<AddressRange>& variables_;
  std::vector<Pointer> pointers_;
  std::vector<Section> linkers_tables_;
};

}  // namespace tracectl
