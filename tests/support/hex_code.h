// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

namespace tracectl {

using Bytes = std::vector<uint8_t>;

// "48 89 e5" as machine code.
inline Bytes bytes(const std::string& hex) {
  std::istringstream in{hex};
  Bytes code;
  for (unsigned byte = 0; in >> std::hex >> byte;) code.push_back(static_cast<uint8_t>(byte));
  return code;
}

}  // namespace tracectl
