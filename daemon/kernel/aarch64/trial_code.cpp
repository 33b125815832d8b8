// SPDX-License-Identifier: BSD-2-Clause
//
// This machine has one nop, of one instruction, and Linux keeps no red zone on it.
#include "daemon/kernel/trial_code.h"

#include <asm/ptrace.h>

#include <cstddef>

asm(".pushsection .text\n"
    ".balign 16\n"
    ".type tracectl_trial_nop, %function\n"
    "tracectl_trial_nop: nop\n mov x0, #0\n ret\n"
    ".size tracectl_trial_nop, . - tracectl_trial_nop\n"
    ".balign 16\n"
    ".type tracectl_trial_stepped, %function\n"
    "tracectl_trial_stepped: mov x0, #0\n ret\n"
    ".size tracectl_trial_stepped, . - tracectl_trial_stepped\n"
    ".balign 16\n"
    ".type tracectl_trial_unsupported, %function\n"
    "tracectl_trial_unsupported: ldxr x0, [sp]\n mov x0, #0\n ret\n"
    ".size tracectl_trial_unsupported, . - tracectl_trial_unsupported\n"
    ".balign 16\n"
    ".type tracectl_trial_system_call, %function\n"
    "tracectl_trial_system_call: mov x8, #172\n svc #0\n mov x0, #0\n ret\n"  // getpid
    ".size tracectl_trial_system_call, . - tracectl_trial_system_call\n"
    ".popsection\n");
// Hidden, so that no entry of the global offset table is needed: those of aarch64 are by section, not by local symbol.
#pragma GCC visibility push(hidden)
extern "C" {
uint64_t tracectl_trial_nop();
uint64_t tracectl_trial_stepped();
uint64_t tracectl_trial_unsupported();
uint64_t tracectl_trial_system_call();
}
#pragma GCC visibility pop

namespace tracectl {

namespace {

constexpr int kNopToReturn = 8;

// `to_exit`: bytes from the site to the instruction that returns.
TrialCode that_begins_with_site(uint64_t (*function)(), size_t to_exit = 0) {
  const auto* site = reinterpret_cast<const char*>(function);
  return {function, site, to_exit ? site + to_exit : nullptr};
}

}  // namespace

TrialCode code_of(TrialFunction function) {
  switch (function) {
    case TrialFunction::nop: return that_begins_with_site(tracectl_trial_nop, kNopToReturn);
    case TrialFunction::stepped: return that_begins_with_site(tracectl_trial_stepped, 4);
    case TrialFunction::unsupported: return that_begins_with_site(tracectl_trial_unsupported);
    case TrialFunction::system_call: return that_begins_with_site(tracectl_trial_system_call);
    default: return {};
  }
}

TrialRegisters trial_registers() {
  return {offsetof(user_pt_regs, regs), offsetof(user_pt_regs, pc), kNopToReturn};
}

}  // namespace tracectl
