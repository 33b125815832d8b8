// SPDX-License-Identifier: BSD-2-Clause
//
// A program's declarations of its probes' arguments: <tracectl/usdt.h> makes notes with them,
// besides those of stapsdt, which have no names and no types of C. The header describes the format
// under "Notes".
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "daemon/base/result.h"
#include "daemon/model/argument.h"

namespace tracectl {

struct DeclaredArgument {
  std::string type;  // in C or C++, as written in the source
  std::string name;
  unsigned words =
      1;  // arguments of the stapsdt note that it stands for: 2 are an address and a length
};

struct DeclaredProbe {
  uint64_t location = 0;  // of the site, at link time
  uint64_t base = 0;      // of .stapsdt.base, at link time
  std::vector<DeclaredArgument> arguments;
};

// Splits the bytes of the section .note.tracectl. The error names the offset of the malformed note.
Result<std::vector<DeclaredProbe>> parse_declared(std::span<const uint8_t> section);

// Adds the names and types to the arguments of a site, and marks those that are text. Leaves the
// arguments as they are if the declaration has another number of them.
void declare(Arguments& arguments, const DeclaredProbe& as);

}  // namespace tracectl
