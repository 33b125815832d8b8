// SPDX-License-Identifier: BSD-2-Clause
//
// The System V calling convention for x86-64 (psABI, 3.2.3 "Parameter Passing"). Each parameter needs registers by the
// class of its eightbytes: integers and pointers some of rdi, rsi, rdx, rcx, r8 and r9, floating-point numbers some of
// xmm0 to xmm7. If too few of either kind are left, or if no register takes its class, the parameter goes onto the
// stack, above the return address.
#include "daemon/object/code/calling_convention.h"

namespace tracectl {
namespace {

constexpr unsigned kVectorRegisters = 8;
constexpr uint64_t kEightbyte = 8;
constexpr uint64_t kMostStackBytes = 1 << 20;  // of parameters; more is not plausible

uint64_t rounded_up(uint64_t value, uint64_t unit) { return (value + unit - 1) / unit * unit; }

ResultSeat in_registers(const Passing& type) {
  using Where = ResultSeat::Where;
  const bool is_pair = type.integer_registers + type.vector_registers > 1;
  if (type.integer_registers && type.vector_registers) {
    constexpr const char* kText = "in rax and xmm0, and no probe sees xmm0";
    if (type.vector_first) return {Where::members, kText, {std::nullopt, 0}};
    return {Where::members, kText, {0, std::nullopt}};
  }
  if (type.vector_registers)
    return {Where::elsewhere,
            is_pair ? "in xmm0 and xmm1, which no probe sees" : "in xmm0, which no probe sees"};
  if (is_pair) return {Where::members, "in rax and rdx", {0, 1}};
  return type.is_aggregate ? ResultSeat{Where::members, "in rax", {0, std::nullopt}}
                           : ResultSeat{Where::number};
}

ResultSeat in_x87_registers(const Passing& type) {
  const bool is_complex = type.size_bytes > 16;
  return {ResultSeat::Where::elsewhere,
          is_complex ? "in st(0) and st(1), which no probe sees" : "in st(0), which no probe sees"};
}

}  // namespace

// psABI, 3.2.3 "Returning of Values".
ResultSeat seat_of_result(const Passing& type, bool by_reference) {
  using Where = ResultSeat::Where;
  if (by_reference) return {Where::address};
  switch (type.way) {
    case Passing::Way::unknown: return {Where::lost};
    case Passing::Way::nothing: return {Where::nothing};
    case Passing::Way::registers: return in_registers(type);
    case Passing::Way::stack: break;
  }
  return type.is_x87 ? in_x87_registers(type) : ResultSeat{Where::address};
}

Seating::Seating() : stack_offset_(kEightbyte) {}  // after the return address

void Seating::take_result_address() { ++integers_; }

Seat Seating::next(const Passing& wanted) {
  using Where = Seat::Where;
  lost_ |= wanted.way == Passing::Way::unknown;
  if (lost_) return {Where::lost, Register::none, 0};
  if (wanted.way == Passing::Way::nothing) return {Where::nothing, Register::none, 0};
  if (wanted.way == Passing::Way::stack) return on_stack(wanted);
  const bool fits = integers_ + wanted.integer_registers <= kArgumentRegisters.size() &&
                    vectors_ + wanted.vector_registers <= kVectorRegisters;
  if (!fits) return on_stack(wanted);
  const Register first = wanted.integer_registers ? kArgumentRegisters[integers_] : Register::none;
  integers_ += wanted.integer_registers;
  vectors_ += wanted.vector_registers;
  return {Where::registers, first, 0};
}

// At the entry rsp + 8 is a multiple of 16, so offsets from there are aligned like addresses.
Seat Seating::on_stack(const Passing& wanted) {
  const bool sound = wanted.alignment <= 16 && wanted.size_bytes <= kMostStackBytes &&
                     stack_offset_ <= kMostStackBytes && wanted.stack_is_certain;
  lost_ |= !sound;
  if (lost_) return {Seat::Where::lost, Register::none, 0};
  const uint64_t unit = wanted.alignment > kEightbyte ? 16 : kEightbyte;
  const uint64_t at = rounded_up(stack_offset_ - kEightbyte, unit) + kEightbyte;
  stack_offset_ = at + rounded_up(wanted.size_bytes, kEightbyte);
  return {Seat::Where::stack, Register::none, at};
}

}  // namespace tracectl
