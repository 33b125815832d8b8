// SPDX-License-Identifier: BSD-2-Clause
//
// Where functions were inlined into others, from debug information. A copy begins where the compiler says (DW_AT_entry_pc),
// or else at the lowest address of its first range. Copies of one function that begin at one instruction are one.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "daemon/base/result.h"
#include "daemon/model/pattern.h"
#include "daemon/object/code/copy_entry.h"
#include "daemon/object/debug_info.h"
#include "daemon/object/elf_file.h"

namespace tracectl {

struct InlinedCopy {
  uint64_t address = 0;  // where it begins, in the file's own address space
  bool may_be_repeated =
      false;  // it may be several copies, of which the others begin elsewhere (copy_lines.h)
  bool is_said = false;     // by the compiler, that it begins there
  std::string function;     // its symbol, or else its name with those of its namespaces and classes
  std::string file;         // of the call; empty if not known
  uint32_t line = 0;        // of the call
  uint32_t begins = 0;      // the line of the source where the function begins; 0: not known
  CodeSpans code;           // all of it, with what was inlined into it
  CodeEntry entry;          // valid as long as InlinedFound::info
  size_t others_there = 0;  // other copies of the function that begin at the same instruction
};

struct InlinedFound {
  std::shared_ptr<DebugInfo> info;
  std::vector<InlinedCopy> copies;  // by address
  size_t without_code = 0;   // of those that are named: removed by the compiler or the linker
  std::string why_none;      // if there are none
  bool are_removed = false;  // there are none, because the compiler has removed them
};

inline constexpr size_t kMostCopies = 100'000;

// The copies of the functions that the pattern names, in functions of any name. Fails beyond the limits.
Result<InlinedFound> find_inlined(const ElfFile& file, const Pattern& pattern);

}  // namespace tracectl
