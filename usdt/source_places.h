// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "usdt/debug_info.h"

namespace tracectl {

// Where in its source an instruction comes from.
struct SourcePlace {
  std::string function;  // demangled; empty if it is not said
  std::string file;
  unsigned line = 0;     // 0 if it is not said
  bool inlined = false;  // into the next place

  bool operator==(const SourcePlace&) const = default;
};

// That of the instruction at an address, in the file's own address space: of the innermost function
// that was inlined there first, and last of the function whose code it is. None without debug
// information.
std::vector<SourcePlace> source_places(DebugInfo& debug_info, uint64_t address);

}  // namespace tracectl
