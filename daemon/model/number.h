// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <bit>
#include <cstdint>
#include <variant>

#include "daemon/model/argument.h"

namespace tracectl {

using Number = std::variant<uint64_t, int64_t, float, double>;

// The low bytes of a register or of memory, read as the type. All of them if no type has its size.
inline Number number_of(const Argument& type, uint64_t bits) {
  const unsigned size = type.size_bytes;
  if (type.is_float && size == sizeof(float))
    return std::bit_cast<float>(static_cast<uint32_t>(bits));
  if (type.is_float) return std::bit_cast<double>(bits);
  const unsigned unused_bits = size == 1 || size == 2 || size == 4 ? 64 - 8 * size : 0;
  const uint64_t shifted = bits << unused_bits;
  if (type.is_signed) return static_cast<int64_t>(shifted) >> unused_bits;
  return shifted >> unused_bits;
}

}  // namespace tracectl
