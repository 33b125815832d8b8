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

// Whether straight-line code at a function's entry has stored each of these bytes by the end of `code`, which is the
// function's from its first byte on. What follows in the function finds them written. False if it is not known, as always
// on arm64.
bool has_stored(std::span<const uint8_t> code, const FrameBytes& wanted);

}  // namespace tracectl
