// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/object/code/stack_height.h"

namespace tracectl {

StackHeight either(const StackHeight& one, const StackHeight& other) {
  return {one.bytes == other.bytes ? one.bytes : std::nullopt,
          one.frame == other.frame ? one.frame : std::nullopt};
}

}  // namespace tracectl
