// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <optional>

#include "daemon/model/cost.h"

namespace tracectl {

// The cost of a hit at those nops that some kernels turn into a call. Without an answer of the kernel: the least that any
// kernel makes of them.
struct Nops {
  CostClass five = CostClass::fast;                // 5 bytes
  std::optional<CostClass> ten = CostClass::fast;  // 10 bytes; none: a probe on it is refused

  bool operator==(const Nops&) const = default;
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("five", s.five);
    f("ten", s.ten);
  }
};

}  // namespace tracectl
