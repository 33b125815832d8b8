// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <initializer_list>
#include <vector>

namespace tracectl {

// Instructions of A64 as they are in memory.
inline std::vector<uint8_t> words(std::initializer_list<uint32_t> instructions) {
  std::vector<uint8_t> code;
  for (const uint32_t word : instructions)
    for (unsigned shift = 0; shift < 32; shift += 8)
      code.push_back(static_cast<uint8_t>(word >> shift));
  return code;
}

}  // namespace tracectl
