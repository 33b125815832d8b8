// SPDX-License-Identifier: BSD-2-Clause
//
// Where lines of source were compiled to. The code of a line can be in several pieces: parts of a statement, copies of an
// inlined function, of a template or of a loop. A piece is an unbroken run of rows of the line in a table; its place is its
// first row that is a statement's beginning. Rows of line 0 belong to the run around them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "daemon/base/result.h"
#include "daemon/model/pattern.h"
#include "daemon/object/elf_file.h"

namespace tracectl {

struct LinePlace {
  uint64_t address = 0;  // in the file's own address space
  size_t file = 0;       // in LinesFound::files
  uint32_t line = 0;
  uint32_t column = 0;     // 0: not known
  bool is_shared = false;  // other lines have the same address

  auto operator<=>(const LinePlace&) const = default;
};

struct LinesFound {
  std::vector<std::string> files;  // that FILE names and that have code there
  std::vector<LinePlace> places;   // sorted
  std::string why_none;            // if there are no places
};

inline constexpr size_t kMostLinePlaces = 100'000;
inline constexpr uint64_t kMostLineRows = 100'000'000;  // that are read of one file

// The places of the lines that the pattern names, in functions of any name. Fails beyond the limits.
Result<LinesFound> find_lines(const ElfFile& file, const Pattern& pattern);

// How FILE of a probe's name is written for this path. A character that means something else in a pattern is a `?`.
std::string source_in_name(std::string path);

}  // namespace tracectl
