// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/object/calling_convention.h"

#include <array>

namespace tracectl {
namespace {

constexpr std::array kIntegerRegisters{Register::rdi, Register::rsi, Register::rdx,
                                       Register::rcx, Register::r8,  Register::r9};
constexpr unsigned kVectorRegisters = 8;
constexpr uint64_t kEightbyte = 8;
constexpr uint64_t kMostStackBytes = 1 << 20;  // of parameters; more is not plausible

uint64_t rounded_up(uint64_t value, uint64_t unit) { return (value + unit - 1) / unit * unit; }

}  // namespace

void Seating::take_result_address() { ++integers_; }

Seat Seating::next(const Passing& wanted) {
  using Where = Seat::Where;
  lost_ |= wanted.way == Passing::Way::unknown;
  if (lost_) return {Where::lost, Register::none, 0};
  if (wanted.way == Passing::Way::nothing) return {Where::nothing, Register::none, 0};
  if (wanted.way == Passing::Way::stack) return on_stack(wanted);
  const bool fits = integers_ + wanted.integer_registers <= kIntegerRegisters.size() &&
                    vectors_ + wanted.vector_registers <= kVectorRegisters;
  if (!fits) return on_stack(wanted);
  const Register first = wanted.integer_registers ? kIntegerRegisters[integers_] : Register::none;
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

std::string name_of(Register reg) {
  static constexpr std::array kNames{"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi", "r8",
                                     "r9",  "r10", "r11", "r12", "r13", "r14", "r15", "rip"};
  const auto number = static_cast<size_t>(reg);
  return number < kNames.size() ? std::string{"%"} + kNames[number] : std::string{};
}

}  // namespace tracectl
