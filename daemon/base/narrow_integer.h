// SPDX-License-Identifier: BSD-2-Clause
//
// Integers of 1, 2, 4 or 8 bytes, for codecs, which know their types as data (fields.h).
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace tracectl {

template <class T> T value_at(const void* at) {
  T value;
  std::memcpy(&value, at, sizeof(value));
  return value;
}

inline uint64_t unsigned_at(const void* at, size_t bytes) {
  switch (bytes) {
    case 1: return value_at<uint8_t>(at);
    case 2: return value_at<uint16_t>(at);
    case 4: return value_at<uint32_t>(at);
    default: return value_at<uint64_t>(at);
  }
}

inline int64_t signed_at(const void* at, size_t bytes) {
  switch (bytes) {
    case 1: return value_at<int8_t>(at);
    case 2: return value_at<int16_t>(at);
    case 4: return value_at<int32_t>(at);
    default: return value_at<int64_t>(at);
  }
}

// Stores the lowest bytes of the number. x86-64 is little endian.
inline void put(uint64_t number, void* at, size_t bytes) { std::memcpy(at, &number, bytes); }
static_assert(std::endian::native == std::endian::little);

}  // namespace tracectl
