// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <optional>

#include "daemon/model/cost.h"

namespace tracectl {

// What the daemon emulates of the instructions that the kernel would single-step (daemon/kernel/emulator.h). `all_but_loads`
// has loads of single bytes, and from the stack.
enum class Emulates : uint8_t { nothing, all_but_loads, all };
constexpr Emulates last_of(Emulates) { return Emulates::all; }

// What the cost of a hit depends on besides the instruction. Without an answer of the kernel: the least that any kernel
// makes of nops, and no emulation.
struct SiteCosts {
  CostClass five = CostClass::fast;                // at a nop of 5 bytes
  std::optional<CostClass> ten = CostClass::fast;  // of 10 bytes; none: a probe on it is refused
  Emulates emulates = Emulates::nothing;

  bool operator==(const SiteCosts&) const = default;
  template <class Self, class F> static void fields(Self& s, F&& f) {
    f("five", s.five);
    f("ten", s.ten);
    f("emulates", s.emulates);
  }
};

}  // namespace tracectl
