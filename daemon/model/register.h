// SPDX-License-Identifier: BSD-2-Clause
//
// The registers of the machine that this is compiled for, and what some of them are for. bpf/abi_machine.h has the
// same numbers.
#pragma once

#include <cstddef>

#if defined(__x86_64__)
#include "daemon/model/x86_64/register.h"
#elif defined(__aarch64__)
#include "daemon/model/aarch64/register.h"
#else
#error "tracectl runs on x86-64 and aarch64"
#endif

namespace tracectl {

// The numbers between the instruction pointer and none are no registers: who decodes one checks it.
constexpr Register last_of(Register) { return Register::none; }

inline constexpr size_t kRegisters = static_cast<size_t>(kInstructionPointer) + 1;

// Whether an operand can be in it: the instruction pointer is only the base of an address.
constexpr bool is_general(Register reg) { return reg < kInstructionPointer; }

}  // namespace tracectl
