// SPDX-License-Identifier: BSD-2-Clause
//
// The places of a function's parameters before its first instruction runs, and of its result when it returns. The room
// of each machine defines them by its calling convention. A parameter's place depends on the types of all before it:
// after one whose type is not understood, no place is certain any more.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

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
  bool vector_first = false;  // the first eightbyte is in a vector register, the second is not
  bool is_x87 =
      false;  // `long double` and structs of one: passed on the stack, returned in registers

  bool operator==(const Passing&) const = default;
};

// The place of one value.
struct Seat {
  enum class Where : uint8_t { lost, nothing, registers, stack };

  Where where = Where::lost;
  Register integer = Register::none;  // the first one, if it has any
  uint64_t stack_offset = 0;          // from the stack pointer at the entry
};

// For each 8 bytes of a value: the number of the register that has them, 0 for kResult and 1 for kSecondResult.
using ResultWords = std::array<std::optional<uint8_t>, 2>;

// The place of a function's result when it returns. Vector and x87 registers are not among those that a trap has, and
// what the task has saved of them is older.
struct ResultSeat {
  enum class Where : uint8_t {
    lost,      // it depends on a type that is not understood
    nothing,   // an empty struct, which has no bytes
    number,    // in kResult
    members,   // in parts, of which some are in kResult and kSecondResult, as `words` says
    address,   // in memory, whose address is in kResult
    elsewhere  // as `text` says: "in xmm0, which no probe sees"
  };

  Where where = Where::lost;
  std::string text = {};
  ResultWords words = {};  // of `members`
};

// `by_reference`: C++ must not copy its bytes, so the caller passes the address of the place for it.
ResultSeat seat_of_result(const Passing& type, bool by_reference);

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
