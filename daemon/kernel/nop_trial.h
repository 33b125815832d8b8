// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <optional>

#include "daemon/kernel/trial.h"
#include "daemon/model/site_costs.h"

namespace tracectl {

// What the running kernel was seen to do with a probe on a nop, in a child of our own.
struct NopTrial {
  bool is_tried = false;       // if not, all else is false
  bool is_refused = false;     // and all below is false
  bool becomes_call = false;   // at its first hits the kernel writes a call over the breakpoint
  bool is_stepped = false;     // the nop is single-stepped in a page that the kernel maps for that
  bool survives_fork = false;  // a forked child that hits the probe lives
  bool passes_seccomp =
      false;  // a process lives whose filter knows nothing of the kernel's own calls
  bool keeps_red_zone = false;  // the memory below the stack pointer is the same after a hit
};

// `nop` begins with the instruction; `red_zone`, if it is given, has it while its red zone holds data. Disarming takes
// some grace periods, 0.02 to 0.25 s each.
NopTrial try_nop(TrialFunction nop, std::optional<TrialFunction> red_zone);

// Whether a probe on the nop may become a call that kills forked children, or processes with a seccomp filter; what could
// not be tried might.
bool may_kill_children(const NopTrial& trial);
bool may_kill_filtered(const NopTrial& trial);

// What hits cost if probes on 5-byte nops are kept breakpoints, or not, and those on 10-byte nops
// that harm anybody are refused.
SiteCosts costs_of(const NopTrial& five, const NopTrial& ten, bool keeps_breakpoints);

}  // namespace tracectl
