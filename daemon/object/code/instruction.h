// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <span>

#include "daemon/base/result.h"
#include "daemon/model/cost.h"
#include "daemon/model/site_costs.h"

namespace tracectl {

// Properties of one instruction that matter for a uprobe on it.
struct Instruction {
  uint8_t length = 0;  // bytes
  CostClass cost = CostClass::slow;
  const char* refusal =
      nullptr;  // why the kernel's uprobes refuse it (or must be refused); null: accepted
};

// Decodes the instruction at the start of `bytes`, which may be followed by anything. Fails with
// Code::invalid if there is no instruction.
Result<Instruction> decode_instruction(std::span<const uint8_t> bytes, const SiteCosts& costs = {});

// Whether `bytes` begin with a nop of five bytes, in any of its forms, which the kernel turns into
// a call (arch/x86/kernel/uprobes.c, can_optimize, of Linux 6.18 to 7.1).
bool is_nop5(std::span<const uint8_t> bytes);

// Whether they begin with the 10-byte nop that Linux 7.2 turns into a call, which leaves the red
// zone as it is. Older kernels refuse it.
bool is_nop10(std::span<const uint8_t> bytes);

// Whether they begin with a nop of more than one byte: what a probe there costs, or that it is
// refused, then depends on the kernel.
bool is_long_nop(std::span<const uint8_t> bytes);

// Whether they begin with the nop at which compilers place USDT probes: the shortest one.
bool is_site_nop(std::span<const uint8_t> bytes);

// Whether they are the nops and the return that are the site of a probe of <tracectl/usdt.h>: on
// x86-64 nops of 1, 10 and 5 bytes, elsewhere one nop.
bool is_header_site(std::span<const uint8_t> bytes);

// Whether nops and a return follow, as at such a site or at the end of a function. The return address is where the
// caller put it: at the stack pointer, below which the memory is unused, or in x30.
bool leads_to_return(std::span<const uint8_t> bytes);

// Whether the instruction at an offset of a function may be between an exclusive load and its store. A trap there makes
// the store fail each time, so that the program would repeat both for ever. x86-64 has no such accesses.
bool is_in_exclusive_access(std::span<const uint8_t> function, uint64_t offset);

}  // namespace tracectl
