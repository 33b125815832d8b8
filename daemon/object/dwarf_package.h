// SPDX-License-Identifier: BSD-2-Clause
//
// The parts of one unit of split debug information, from a .dwo file or from a package of many
// (.dwp). Sources of the formats: DWARF 5, 7.3; for DWARF 4, "DWARF Extensions for Separate Debug
// Information Files" of GCC's wiki.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "daemon/object/elf_image.h"

namespace tracectl {

using SectionBytes = std::vector<uint8_t>;

// The sections of a unit, in the order of kSplitSections; empty if there is none.
inline constexpr std::array<std::string_view, 9> kSplitSections = {
    ".debug_info.dwo",        ".debug_abbrev.dwo",   ".debug_line.dwo",
    ".debug_loc.dwo",         ".debug_loclists.dwo", ".debug_rnglists.dwo",
    ".debug_str_offsets.dwo", ".debug_str.dwo",      ".debug_types.dwo"};
using SplitSections = std::array<SectionBytes, kSplitSections.size()>;

// Of a .dwo file, or of a whole package. None if a section cannot be unpacked.
std::optional<SplitSections> split_sections(const ElfImage& image);

// Units in type sections of their own are not found: their types stay unknown.
class DwarfPackage {
 public:
  // None if the file has no index of units, or a damaged one.
  static std::optional<DwarfPackage> open(const ElfImage& image);

  // The sections of one unit, with the strings that it uses. None if it is not there, or damaged.
  std::optional<SplitSections> unit(uint64_t id) const;

 private:
  struct Part {
    uint32_t offset = 0, size = 0;
  };
  using Parts = std::array<Part, kSplitSections.size()>;

  bool read_index(std::span<const uint8_t> index);

  SplitSections all_;
  std::unordered_map<uint64_t, Parts> units_;  // by id
};

}  // namespace tracectl
