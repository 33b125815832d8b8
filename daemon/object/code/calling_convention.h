// SPDX-License-Identifier: BSD-2-Clause
//
// The places of a function's parameters before its first instruction runs: the System V calling
// convention for x86-64 (psABI, 3.2.3 "Parameter Passing").
//
// Each parameter needs registers by the class of its eightbytes: integers and pointers some of rdi,
// rsi, rdx, rcx, r8 and r9, floating-point numbers some of xmm0 to xmm7. If too few of either kind
// are left, or if no register takes its class, the parameter goes onto the stack, above the return
// address. So a parameter's place depends on the types of all before it: after one whose type is
// not understood, no place is certain any more.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "daemon/model/argument.h"

namespace tracectl {

// The registers or stack needed to pass a value of a type.
struct Passing {
  enum class Way : uint8_t {
    unknown,
    nothing,    // an empty struct, which has no bytes
    registers,  // or the stack, if too few are left
    stack,
  };

  Way way = Way::unknown;
  uint8_t integer_registers = 0;
  uint8_t vector_registers = 0;
  bool stack_is_certain = true;  // false: without enough registers compilers differ
  uint64_t size_bytes = 8;
  uint64_t alignment = 8;

  bool operator==(const Passing&) const = default;
};

// The place of one value.
struct Seat {
  enum class Where : uint8_t { lost, nothing, registers, stack };

  Where where = Where::lost;
  Register integer = Register::none;  // the first one, if it has any
  uint64_t stack_offset = 0;          // from rsp at the entry
};

// Assigns registers and stack to the parameters of one function, in their order.
class Seating {
 public:
  // A result that is returned in memory has its address passed before all parameters.
  void take_result_address();
  Seat next(const Passing& wanted);

 private:
  Seat on_stack(const Passing& wanted);

  unsigned integers_ = 0;      // taken
  unsigned vectors_ = 0;       // taken
  uint64_t stack_offset_ = 8;  // after the return address
  bool lost_ = false;
};

std::string name_of(Register reg);  // such as "%rdi"

}  // namespace tracectl
