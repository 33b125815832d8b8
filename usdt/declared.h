// SPDX-License-Identifier: BSD-2-Clause
//
// What a program declares of its probes' arguments: the notes that <tracectl/usdt.h> makes beside
// those of stapsdt, which have neither names nor types of C. The format stands there, under "Notes".
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "daemon/base/result.h"
#include "daemon/model/argument.h"

namespace tracectl {

struct DeclaredArgument {
  std::string type;  // in C or C++, as it was written
  std::string name;
  unsigned words =
      1;  // how many arguments of the stapsdt note it is: 2 are an address and a length
};

struct DeclaredProbe {
  uint64_t location = 0;  // of the site, when the file was linked
  uint64_t base = 0;      // where .stapsdt.base was then
  std::vector<DeclaredArgument> arguments;
};

// Splits the bytes of the section .note.tracectl. The error names the offset of the note at fault.
Result<std::vector<DeclaredProbe>> parse_declared(std::span<const uint8_t> section);

// Gives the arguments of a site their names and types, and says which of them are text. Leaves them
// as they are where the declaration has another number of them.
void declare(Arguments& arguments, const DeclaredProbe& as);

}  // namespace tracectl
