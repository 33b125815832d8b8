// SPDX-License-Identifier: BSD-2-Clause
//
// Input: the bytes of a section .note.stapsdt.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "daemon/object/notes.h"

using namespace tracectl;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto notes = parse_notes({data, size});
  if (!notes) return 0;
  size_t bytes = 0;
  for (const RawNote& note : *notes) {
    if (note.provider.empty() || note.name.empty()) std::abort();
    bytes += 12 + 8 + 24 + note.provider.size() + note.name.size() + note.args.size() + 3;
  }
  if (bytes > size) std::abort();  // nothing is read twice
  return 0;
}
