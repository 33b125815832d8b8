// SPDX-License-Identifier: BSD-2-Clause
//
// The places of a function's parameters before its first instruction runs. The room of each machine defines Seating by
// its calling convention. A parameter's place depends on the types of all before it: after one whose type is not
// understood, no place is certain any more.
#pragma once

#include <cstdint>
#include <optional>

#include "daemon/model/argument.h"

namespace tracectl {

// The registers or stack needed to pass a value of a type, as by the classes of x86-64 (psABI, 3.2.3).
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
  bool is_aggregate = false;

  bool operator==(const Passing&) const = default;
};

// The place of one value.
struct Seat {
  enum class Where : uint8_t { lost, nothing, registers, stack };

  Where where = Where::lost;
  Register integer = Register::none;  // the first one, if it has any
  uint64_t stack_offset = 0;          // from the stack pointer at the entry
};

// Assigns registers and stack to the parameters of one function, in their order.
class Seating {
 public:
  Seating();

  // A result that is returned in memory has its address passed before all parameters.
  void take_result_address();
  Seat next(const Passing& wanted);

 private:
  Seat on_stack(const Passing& wanted);

  unsigned integers_ = 0;  // taken
  unsigned vectors_ = 0;   // taken
  uint64_t stack_offset_ = 0;
  bool lost_ = false;
};

}  // namespace tracectl
