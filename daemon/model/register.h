// SPDX-License-Identifier: BSD-2-Clause
//
// The registers of the machine that this is compiled for, and what some of them are for. bpf/abi_machine.h has the
// same numbers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace tracectl {

#if defined(__x86_64__)

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

#elif defined(__aarch64__)

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

#else
#error "tracectl runs on x86-64 and aarch64"
#endif

// The numbers between the instruction pointer and none are no registers: who decodes one checks it.
constexpr Register last_of(Register) { return Register::none; }

inline constexpr size_t kRegisters = static_cast<size_t>(kInstructionPointer) + 1;

// Whether an operand can be in it: the instruction pointer is only the base of an address.
constexpr bool is_general(Register reg) { return reg < kInstructionPointer; }

}  // namespace tracectl
