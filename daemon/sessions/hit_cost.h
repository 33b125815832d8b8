// SPDX-License-Identifier: BSD-2-Clause
//
// The time that a hit takes from the traced program, as far as it can be known without measuring it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "daemon/finding/coverage.h"
#include "daemon/finding/resolver.h"
#include "daemon/kernel/calibration.h"
#include "daemon/model/cost.h"
#include "daemon/model/probe.h"

namespace tracectl {

// Nanoseconds of one CPU, for the way into and out of the probe, and a count; without the other work of a
// spec: a condition, a record, a copied stack.
struct HitCosts {
  double fast, normal, emulated, slow;  // of the classes
  double trampoline;                    // added if a call is followed by the trampoline
  double kept_call;  // added if it is followed by exits, which are hits themselves

  // Medians measured by `make bench` (docs/performance.md): "counted" at a 5-byte and at a 1-byte nop,
  // "time by trampoline" over "counted", "time by exits" over "counted" and a single step. What the daemon emulates was
  // seen to take 1.4 times as much as what the kernel does (`doctor` on Linux 7.2 in qemu).
  static constexpr HitCosts on_hardware() { return {550, 670, 940, 2 * 670, 1200, 1200}; }
  // There a single step traps to the hypervisor: it takes ten thousand and more, instead of twice as much
  // as an emulated instruction.
  static constexpr HitCosts in_virtual_machine() { return {550, 670, 940, 10'000, 1200, 1200}; }
  static const HitCosts& here();
  // From what the kernel was seen to take (daemon/kernel/calibration.h); here(), if that is not known.
  static HitCosts measured(const tc_hit_costs& costs);

  double of(CostClass cost) const;
  // The cost of a hit at a site of this class, including the end of the call that it begins.
  double of(CostClass cost, Way way, const ReturnPlan* returns) const;
};

// What the sites of a session take from the programs.
struct HitEstimate {
  size_t slow_sites = 0;             // their instruction is single-stepped
  size_t exits = 0, slow_exits = 0;  // probes where followed calls end
  uint64_t hit_ns =
      0;  // of a hit, with the end of the call that it begins: the mean over the sites
};
HitEstimate estimate_hits(const Coverage& coverage, const HitCosts& costs);
// Of sites that several processes have in common: once.
HitEstimate estimate_hits(const Resolution& found, const HitCosts& costs);
bool follows_calls(const Coverage& coverage);
size_t slow_exits_of(const ReturnPlan& returns);

}  // namespace tracectl
