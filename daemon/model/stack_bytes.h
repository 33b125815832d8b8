// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>

#include "daemon/model/stack.h"

namespace tracectl {

// The approximate memory that it takes.
inline size_t bytes_of(const Frame& frame) {
  return sizeof(frame) + frame.module.size() + frame.build_id.size() + frame.function.size() +
         frame.file.size();
}
inline size_t bytes_of(const Stack& stack) {
  size_t bytes = sizeof(stack);
  for (const Frame& frame : stack.frames) bytes += bytes_of(frame);
  return bytes;
}

}  // namespace tracectl
