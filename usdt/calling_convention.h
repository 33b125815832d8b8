// SPDX-License-Identifier: BSD-2-Clause
//
// Where a function's parameters are when its first instruction is about to run: the System V
// calling convention for x86-64 (psABI, 3.2.3 "Parameter Passing").
//
// Each parameter asks for registers by the class of its eightbytes: integers and pointers for some
// of rdi, rsi, rdx, rcx, r8 and r9, floating-point numbers for some of xmm0 to xmm7. One that finds
// too few left of either kind, or is of a kind that no register takes, goes onto the stack, above
// the return address. So where a parameter is depends on the types of all before it: behind one
// whose type is not understood no place is certain any more.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "daemon/model/argument.h"

namespace tracectl {

// What a value of a type takes to be passed.
struct Passing {
  enum class Way : uint8_t {
    unknown,
    nothing,    // an empty struct: there is no byte of it
    registers,  // or the stack where too few are left
    stack,
  };

  Way way = Way::unknown;
  uint8_t integer_registers = 0;
  uint8_t vector_registers = 0;
  bool stack_is_certain = true;  // false: compilers differ in what they do without enough registers
  uint64_t size_bytes = 8;
  uint64_t alignment = 8;

  bool operator==(const Passing&) const = default;
};

// Where one value was put.
struct Seat {
  enum class Where : uint8_t { lost, nothing, registers, stack };

  Where where = Where::lost;
  Register integer = Register::none;  // the first one, if it got any
  uint64_t stack_offset = 0;          // from rsp at the entry
};

// Hands out registers and stack to the parameters of one function, in their order.
class Seating {
 public:
  // A result that is returned in memory has its address passed in front of all parameters.
  void take_result_address();
  Seat next(const Passing& wanted);

 private:
  Seat on_stack(const Passing& wanted);

  unsigned integers_ = 0;      // taken
  unsigned vectors_ = 0;       // taken
  uint64_t stack_offset_ = 8;  // behind the return address
  bool lost_ = false;
};

std::string name_of(Register reg);  // "%rdi"

}  // namespace tracectl
