// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace tracectl {

// Two lower-case digits for each byte.
inline std::string hex_of(std::span<const uint8_t> bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string hex;
  hex.reserve(2 * bytes.size());
  for (const uint8_t byte : bytes) {
    hex += kDigits[byte >> 4];
    hex += kDigits[byte & 15];
  }
  return hex;
}

inline std::string hex_of(std::string_view bytes) {
  return hex_of(std::span{reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()});
}

}  // namespace tracectl
