// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/sessions/hit_cost.h"

#include <algorithm>

#ifdef __x86_64__
#include <cpuid.h>
#endif

namespace tracectl {
namespace {

#ifdef __x86_64__
// Hypervisors announce themselves by a bit that no processor sets (Intel SDM, CPUID leaf 1, ECX 31).
bool is_virtual_machine() {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  return __get_cpuid(1, &eax, &ebx, &ecx, &edx) && ecx >> 31;
}
#else
// Not told to programs elsewhere: the costs in a virtual machine are the higher ones.
bool is_virtual_machine() { return true; }
#endif

// A return is single-stepped, a jump out of the function is emulated. It is not known by which one a call
// leaves.
CostClass dearest_exit(const ReturnPlan& returns) {
  const bool has_return = std::any_of(returns.exits.begin(), returns.exits.end(),
                                      [](const ExitSite& exit) { return exit.has_result; });
  return has_return ? CostClass::slow : CostClass::normal;
}

}  // namespace

const HitCosts& HitCosts::here() {
  static const HitCosts costs = is_virtual_machine() ? in_virtual_machine() : on_hardware();
  return costs;
}

double HitCosts::of(CostClass cost) const {
  switch (cost) {
    case CostClass::fast: return fast;
    case CostClass::normal: return normal;
    case CostClass::slow: return slow;
  }
  return slow;
}

double HitCosts::of(CostClass cost, Way way, const ReturnPlan* returns) const {
  if (way == Way::trampoline) return of(cost) + trampoline;
  if (way == Way::exits && returns) return of(cost) + kept_call + of(dearest_exit(*returns));
  return of(cost);
}

}  // namespace tracectl
