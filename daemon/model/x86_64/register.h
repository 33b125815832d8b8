// SPDX-License-Identifier: BSD-2-Clause
//
// Part of daemon/model/register.h.
#pragma once

#include <array>
#include <cstdint>

namespace tracectl {

// The general registers in the order of their numbers in instruction encodings.
enum class Register : uint8_t {
  rax,
  rcx,
  rdx,
  rbx,
  rsp,
  rbp,
  rsi,
  rdi,
  r8,
  r9,
  r10,
  r11,
  r12,
  r13,
  r14,
  r15,
  rip,  // the address of the probed instruction
  none = 255,
};

inline constexpr Register kStackPointer = Register::rsp;
inline constexpr Register kInstructionPointer = Register::rip;
inline constexpr Register kResult = Register::rax;
inline constexpr Register kSecondResult = Register::rdx;
// Integer arguments: System V ABI for AMD64, 3.2.3 "Parameter Passing".
inline constexpr std::array kArgumentRegisters{Register::rdi, Register::rsi, Register::rdx,
                                               Register::rcx, Register::r8,  Register::r9};
// Go's integer arguments, and its integer results: Go's ABIInternal.
inline constexpr std::array kGoRegisters{Register::rax, Register::rbx, Register::rcx,
                                         Register::rdi, Register::rsi, Register::r8,
                                         Register::r9,  Register::r10, Register::r11};

}  // namespace tracectl
