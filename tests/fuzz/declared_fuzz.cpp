// SPDX-License-Identifier: BSD-2-Clause
//
// Input: the bytes of a section .note.tracectl.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "daemon/object/declared.h"

using namespace tracectl;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto probes = parse_declared({data, size});
  if (!probes) return 0;
  size_t bytes = 0;
  for (const DeclaredProbe& probe : *probes) {
    bytes += 12 + 12 + 16;
    size_t words = 0;
    for (const DeclaredArgument& one : probe.arguments) {
      bytes += one.type.size() + one.name.size() + 3;
      words += one.words;
    }
    Arguments arguments(words), other(words + 1);
    declare(arguments, probe);
    declare(other, probe);
    if (words && arguments.back().name.empty() && !probe.arguments.back().name.empty())
      std::abort();
    if (other != Arguments(words + 1)) std::abort();
  }
  if (bytes > size) std::abort();  // nothing is read twice
  return 0;
}
