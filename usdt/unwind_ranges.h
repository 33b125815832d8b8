// SPDX-License-Identifier: BSD-2-Clause
//
// The ranges of code that a file's unwind table has entries for. Stripped files have it too: C++
// exceptions and backtraces need it. A function has one range for each of its parts, so also for a
// .cold part that no symbol names.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "usdt/elf_file.h"

namespace tracectl {

// What the entries (FDEs) in the bytes of a section .eh_frame say, in their order, whatever it is
// that lies there. Format: Linux Standard Base Core, 10.6; pointers may be absolute or relative to
// their own place, of 2, 4 or 8 bytes. Left out are entries with other pointers, empty ones, those
// that wrap around, and those of signal handlers' frames, which need not begin at an instruction. Of
// a table that cannot be followed to its end nothing is returned.
std::vector<AddressRange> parse_unwind_ranges(std::span<const uint8_t> section, uint64_t address);

class UnwindRanges {
 public:
  UnwindRanges() = default;
  // Keeps those that lie in an executable section and in the file, but none of the linker's stubs,
  // of which one entry describes many; and none of two that overlap, for one of them is wrong.
  // A file without a table (or with a damaged or absurd one) has none.
  explicit UnwindRanges(const ElfFile& file);

  const std::vector<AddressRange>& all() const { return ranges_; }  // sorted, disjoint
  std::optional<AddressRange> range_at(uint64_t address) const;

 private:
  std::vector<AddressRange> ranges_;
};

}  // namespace tracectl
