// SPDX-License-Identifier: BSD-2-Clause
//
// Procedure Call Standard for the Arm 64-bit Architecture, 6.8.2 "Parameter passing rules". Passing describes a value by
// the classes of x86-64, which are the same for numbers, pointers and structs of integers. Structs with floating-point
// members and long ones are passed in ways that it does not tell apart here (in vector registers if all members are of
// one such type, else by address or in integer registers), so no later place is certain.
// What "6.9 Result return" says of their results is not told apart here either; the address of a result in memory is in
// x8 at the entry, and nowhere certain at the return.
// Nor behind a struct of a great alignment: that of its members counts, and not what is declared of the struct itself.
#include "daemon/object/code/calling_convention.h"

#include <algorithm>

namespace tracectl {
namespace {

constexpr unsigned kVectorRegisters = 8;
constexpr uint64_t kDoubleword = 8;
constexpr uint64_t kQuadword = 16;
constexpr uint64_t kMostStackBytes = 1 << 20;  // of parameters; more is not plausible

uint64_t rounded_up(uint64_t value, uint64_t unit) { return (value + unit - 1) / unit * unit; }

bool is_complex(const Passing& type) {
  return type.vector_registers > 0 && type.alignment != type.size_bytes;
}

// A C++ object without members takes a register, one of C does not: Passing does not say which it is.
bool is_understood(const Passing& wanted) {
  if (wanted.way == Passing::Way::unknown || wanted.way == Passing::Way::nothing) return false;
  const bool is_long = wanted.way == Passing::Way::stack;
  if (wanted.is_aggregate)
    return !is_long && wanted.vector_registers == 0 && wanted.alignment < kQuadword;
  return !is_complex(wanted) && wanted.size_bytes <= kQuadword;
}

// `long double` has 16 bytes and a vector register here.
bool is_in_vector_register(const Passing& wanted) {
  return wanted.vector_registers > 0 || wanted.way == Passing::Way::stack;
}

ResultSeat in_vector_registers(const Passing& type) {
  const bool is_pair = is_complex(type) || type.size_bytes > kQuadword;
  return {ResultSeat::Where::elsewhere,
          is_pair ? "in v0 and v1, which no probe sees" : "in v0, which no probe sees"};
}

}  // namespace

ResultSeat seat_of_result(const Passing& type, bool by_reference) {
  using Where = ResultSeat::Where;
  if (by_reference) return {Where::elsewhere, "in memory, whose address is not known any more"};
  if (type.way == Passing::Way::unknown) return {Where::lost};
  if (type.way == Passing::Way::nothing) return {Where::nothing};
  const bool of_integers = type.way == Passing::Way::registers && type.vector_registers == 0;
  if (of_integers && type.integer_registers > 1) return {Where::members, "in x0 and x1", {0, 1}};
  if (of_integers && type.is_aggregate) return {Where::members, "in x0", {0, std::nullopt}};
  if (of_integers) return {Where::number};
  if (type.is_aggregate) return {Where::elsewhere, "by value, which no probe sees whole"};
  return in_vector_registers(type);
}

Seating::Seating() = default;

// It is passed in x8.
void Seating::take_result_address() {}

Seat Seating::next(const Passing& wanted) {
  using Where = Seat::Where;
  lost_ |= !is_understood(wanted);
  if (lost_) return {Where::lost, Register::none, 0};
  if (is_in_vector_register(wanted)) {
    if (vectors_ >= kVectorRegisters) return on_stack(wanted);
    ++vectors_;
    return {Where::registers, Register::none, 0};
  }
  if (wanted.alignment >= kQuadword) integers_ = static_cast<unsigned>(rounded_up(integers_, 2));
  if (integers_ + wanted.integer_registers > kArgumentRegisters.size()) {
    integers_ = kArgumentRegisters.size();
    return on_stack(wanted);
  }
  const Register first = kArgumentRegisters[integers_];
  integers_ += wanted.integer_registers;
  return {Where::registers, first, 0};
}

Seat Seating::on_stack(const Passing& wanted) {
  lost_ |= wanted.alignment > kQuadword || stack_offset_ > kMostStackBytes;
  if (lost_) return {Seat::Where::lost, Register::none, 0};
  const uint64_t at = rounded_up(stack_offset_, std::max(wanted.alignment, kDoubleword));
  stack_offset_ = at + rounded_up(wanted.size_bytes, kDoubleword);
  return {Seat::Where::stack, Register::none, at};
}

}  // namespace tracectl
