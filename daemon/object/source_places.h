// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "daemon/object/debug_info.h"

namespace tracectl {

// The source of an instruction.
struct SourcePlace {
  std::string function;  // demangled; empty if not known
  std::string file;
  unsigned line = 0;     // 0 if not known
  bool inlined = false;  // into the next place
  // Where the function begins, in the file's own address space; unless inlined.
  std::optional<uint64_t> entry = {};

  bool operator==(const SourcePlace&) const = default;
};

// The source of the instruction at an address, in the file's own address space: first the innermost
// function inlined there, last the function that has the code. Empty without debug information.
std::vector<SourcePlace> source_places(DebugInfo& debug_info, uint64_t address);

}  // namespace tracectl
