// SPDX-License-Identifier: BSD-2-Clause
#pragma once

namespace tracectl {

// The cost of a hit for the program, which depends on the instruction under the probe.
enum class CostClass {
  fast,      // a nop that the kernel turns into a call: no trap
  normal,    // breakpoint, instruction emulated by the kernel
  emulated,  // breakpoint, instruction emulated by a program of the daemon (daemon/kernel/emulator.h)
  slow,      // breakpoint, instruction single-stepped out of line
};
constexpr CostClass last_of(CostClass) { return CostClass::slow; }

inline const char* name_of(CostClass cost) {
  switch (cost) {
    case CostClass::fast: return "fast";
    case CostClass::normal: return "normal";
    case CostClass::emulated: return "emulated";
    case CostClass::slow: return "slow";
  }
  return "";
}

}  // namespace tracectl
