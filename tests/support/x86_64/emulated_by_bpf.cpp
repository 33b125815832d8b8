// SPDX-License-Identifier: BSD-2-Clause
#include "tests/support/emulated_by_bpf.h"

#include <bpf/bpf.h>
#include <sys/mman.h>

#include <stdexcept>

#include "bpf/emulator.skel.h"
#include "tests/bpf/emulate_states.skel.h"

namespace tracectl {

EmulatedByBpf::EmulatedByBpf() : skeleton_(emulate_states::open_and_load()) {
  if (!skeleton_) throw std::runtime_error("the program with the emulator cannot be loaded");
  auto memory =
      Mapping::map(bpf_map__fd(skeleton_->maps.states), 0, EMULATED_STATES * sizeof(emulated_state),
                   PROT_READ | PROT_WRITE, MAP_SHARED);
  if (!memory) throw std::runtime_error(memory.error().message);
  memory_ = std::move(*memory);
}

EmulatedByBpf::~EmulatedByBpf() { emulate_states::destroy(skeleton_); }

std::span<emulated_state> EmulatedByBpf::states() {
  return {static_cast<emulated_state*>(memory_.data()), EMULATED_STATES};
}

void EmulatedByBpf::run(const tc_instruction& instruction) {
  skeleton_->bss->instruction = instruction;
  LIBBPF_OPTS(bpf_test_run_opts, options);
  if (bpf_prog_test_run_opts(bpf_program__fd(skeleton_->progs.emulate_all), &options) != 0)
    throw std::runtime_error("the program with the emulator does not run");
}

std::vector<bpf_insn> emulators_program() {
  emulator* skeleton = emulator::open(nullptr);
  if (!skeleton) throw std::runtime_error("the emulator's program cannot be opened");
  const bpf_program* program = skeleton->progs.on_emulated;
  const bpf_insn* first = bpf_program__insns(program);
  std::vector<bpf_insn> code(first, first + bpf_program__insn_cnt(program));
  emulator::destroy(skeleton);
  return code;
}

}  // namespace tracectl
