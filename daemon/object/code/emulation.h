// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "bpf/abi.h"
#include "daemon/model/site_costs.h"

namespace tracectl {

// Where an instruction stands.
enum class Standing {
  within,   // a function's entry, or behind it
  at_exit,  // where a function exits, and no function begins
};

// The instruction at the start of `bytes`, in the form that bpf/emulate.h carries out; none if the kernel emulates or
// steps it. These are left to the kernel:
// - what writes memory, another register than the general ones, or flags besides the arithmetic ones;
// - with Emulates::all_but_loads, what reads more than a byte of memory, except the return address: another thread may be
//   writing it;
// - what uses fs: or gs:, or a 32-bit address;
// - what writes the stack pointer, except `ret` at an exit: at an entry the kernel writes the address of its own code
//   there, for another tracer that wants the return (kernel/events/uprobes.c, prepare_uretprobe), after this program has
//   run.
std::optional<tc_instruction> emulated_form(std::span<const uint8_t> bytes, Standing standing,
                                            Emulates emulates);

}  // namespace tracectl
