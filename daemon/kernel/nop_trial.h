// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "daemon/kernel/trial.h"

namespace tracectl {

// What the running kernel was seen to do with a probe on a nop, in a child of our own.
struct NopTrial {
  bool is_tried = false;        // if not, all else is false
  bool is_refused = false;      // and all below is false
  bool becomes_call = false;    // at its first hits the kernel writes a call over the breakpoint
  bool is_stepped = false;      // the nop is single-stepped in a page that the kernel maps for that
  bool survives_fork = false;   // a forked child that hits the probe lives
  bool keeps_red_zone = false;  // the memory below the stack pointer is the same after a hit
};

// `nop` begins with the instruction; `red_zone` has it while its red zone holds data. Takes up to 0.1 s.
NopTrial try_nop(TrialFunction nop, TrialFunction red_zone);

}  // namespace tracectl
