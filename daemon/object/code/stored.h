// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <span>

namespace tracectl {

// Bytes of a function's frame, by their distance from the stack pointer of its caller before the call: what lies there
// is the function's own if the distance is negative.
struct FrameBytes {
  int64_t from_caller = 0;
  uint64_t size = 0;
};

enum class Stored : uint8_t {
  unknown,  // as always on arm64
  all,  // each of the bytes, by straight-line code at the entry: what follows in the function finds them written
  none,  // the code is straight, and stores none of them
};

// What has been stored by the end of `code`, which is the function's from its first byte on.
Stored stored_by(std::span<const uint8_t> code, const FrameBytes& wanted);

}  // namespace tracectl
