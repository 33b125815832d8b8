// SPDX-License-Identifier: BSD-2-Clause
//
// This machine has one nop, of one instruction, and Linux keeps no red zone on it.
#include "daemon/kernel/trial_code.h"

asm(".pushsection .text\n"
    ".balign 16\n"
    ".type tracectl_trial_nop, %function\n"
    "tracectl_trial_nop: nop\n mov x0, #0\n ret\n"
    ".size tracectl_trial_nop, . - tracectl_trial_nop\n"
    ".popsection\n");
extern "C" uint64_t tracectl_trial_nop();

namespace tracectl {

TrialCode code_of(TrialFunction function) {
  if (function != TrialFunction::nop) return {};
  return {tracectl_trial_nop, reinterpret_cast<const void*>(tracectl_trial_nop)};
}

}  // namespace tracectl
