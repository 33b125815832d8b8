// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <linux/bpf.h>

#include <span>
#include <vector>

#include "daemon/base/mapping.h"
#include "tests/support/emulated_state.h"

struct emulate_states;

namespace tracectl {

// bpf/emulate.h as the compiler and the kernel make it of BPF. The constructor throws if the kernel refuses the program.
class EmulatedByBpf {
 public:
  EmulatedByBpf();
  ~EmulatedByBpf();

  // EMULATED_STATES of them, which run() changes.
  std::span<emulated_state> states();
  void run(const tc_instruction& instruction);

 private:
  emulate_states* skeleton_;
  Mapping memory_;
};

// The emulator's program, as the compiler made it.
std::vector<bpf_insn> emulators_program();

}  // namespace tracectl
