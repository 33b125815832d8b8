// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>

namespace tracectl {

struct GraphOptions {
  bool arguments = false;
  bool results = false;
  bool colour = false;
  uint64_t min_duration_ns = 0;  // shorter calls are not shown, nor are the calls within them
};

}  // namespace tracectl
