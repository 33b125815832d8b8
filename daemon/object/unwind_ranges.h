// SPDX-License-Identifier: BSD-2-Clause
//
// The ranges of code that have entries in a file's unwind table. Stripped files have the table,
// too, because C++ exceptions and backtraces need it. A function has one range for each of its
// parts, so also for a .cold part without a symbol.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "daemon/object/elf_file.h"

namespace tracectl {

// The ranges of the entries (FDEs) in the bytes of a section .eh_frame, in their order, whatever
// lies there. Format: Linux Standard Base Core, 10.6; pointers may be absolute or relative to their
// own place, with 2, 4 or 8 bytes. Leaves out entries with other pointers, empty ones, those that
// wrap around, and those of signal handlers' frames, which need not begin at an instruction. Empty
// if the table cannot be followed to its end.
std::vector<AddressRange> parse_unwind_ranges(std::span<const uint8_t> section, uint64_t address);

class UnwindRanges {
 public:
  UnwindRanges() = default;
  // Keeps ranges that are in an executable section and in the file. Leaves out the linker's stubs,
  // because one entry describes many, and both of two ranges that overlap, because one of them is
  // wrong. A file without a table (or with a damaged or absurd one) has none.
  explicit UnwindRanges(const ElfFile& file);

  const std::vector<AddressRange>& all() const { return ranges_; }  // sorted, disjoint
  std::optional<AddressRange> range_at(uint64_t address) const;

 private:
  std::vector<AddressRange> ranges_;
};

}  // namespace tracectl
