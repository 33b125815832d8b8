// SPDX-License-Identifier: BSD-2-Clause
//
// Part of daemon/model/register.h.
#pragma once

#include <array>
#include <cstdint>

namespace tracectl {

// x0 to x30 are 0 to 30.
enum class Register : uint8_t {
  x0,
  x1,
  x2,
  x3,
  x4,
  x5,
  x6,
  x7,
  x29 = 29,  // the frame pointer
  x30,       // the return address, until the function calls another
  sp,
  pc,  // the address of the probed instruction
  none = 255,
};

inline constexpr Register kStackPointer = Register::sp;
inline constexpr Register kInstructionPointer = Register::pc;
inline constexpr Register kResult = Register::x0;
inline constexpr Register kSecondResult = Register::x1;
// Integer arguments: Procedure Call Standard for the Arm 64-bit Architecture, 6.8.2.
inline constexpr std::array kArgumentRegisters{Register::x0, Register::x1, Register::x2,
                                               Register::x3, Register::x4, Register::x5,
                                               Register::x6, Register::x7};
// The first of Go's integer arguments, and of its integer results: Go's ABIInternal.
inline constexpr std::array kGoRegisters = kArgumentRegisters;

}  // namespace tracectl
