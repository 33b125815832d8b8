// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/object/function_arguments.h"

#include <algorithm>
#include <array>

namespace tracectl {
namespace {

// The only skipped instruction that changes nothing at all. Others leave the argument registers
// unchanged, but may have moved the stack pointer.
bool is_endbr64(std::span<const uint8_t> code) {
  static constexpr std::array<uint8_t, 4> kEndbr64{0xf3, 0x0f, 0x1e, 0xfa};
  return std::ranges::equal(code, kEndbr64);
}

void lose_stack(Arguments& arguments) {
  for (Argument& argument : arguments) {
    if (argument.place != Argument::Place::memory) continue;
    argument.place = Argument::Place::unreadable;
    argument.text = "on the stack, and the probe sits behind the function's first instruction";
  }
}

}  // namespace

std::shared_ptr<const Arguments> FunctionArguments::at_entry(const Function& function,
                                                             uint64_t moved_bytes,
                                                             std::span<const uint8_t> code) {
  if (!parameters_) parameters_.emplace(file_);
  auto known = parameters_->of(function);
  if (!known) return argument_registers();
  const bool moved = moved_bytes > code.size() || !is_endbr64(code.first(moved_bytes));
  if (moved_bytes && moved) lose_stack(*known);
  return std::make_shared<const Arguments>(std::move(*known));
}

std::optional<Argument> FunctionArguments::result_of(const Function& function) {
  if (!parameters_) parameters_.emplace(file_);
  return parameters_->result_of(function);
}

std::shared_ptr<const Arguments> argument_registers() {
  static const auto arguments = [] {
    constexpr std::array<std::pair<Register, const char*>, 6> kRegisters{{{Register::rdi, "%rdi"},
                                                                          {Register::rsi, "%rsi"},
                                                                          {Register::rdx, "%rdx"},
                                                                          {Register::rcx, "%rcx"},
                                                                          {Register::r8, "%r8"},
                                                                          {Register::r9, "%r9"}}};
    Arguments all;
    for (const auto& [reg, name] : kRegisters) {
      Argument argument;
      argument.place = Argument::Place::in_register;
      argument.base = reg;
      argument.text = name;
      all.push_back(argument);
    }
    return std::make_shared<const Arguments>(std::move(all));
  }();
  return arguments;
}

}  // namespace tracectl
