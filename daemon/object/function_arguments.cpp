// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/object/function_arguments.h"

#include "daemon/object/code/machine.h"

namespace tracectl {
namespace {

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
  // Instructions other than such a mark leave the argument registers unchanged, but may have moved the stack pointer.
  const bool moved = moved_bytes > code.size() || !is_entry_mark(code.first(moved_bytes));
  if (moved_bytes && moved) lose_stack(*known);
  return std::make_shared<const Arguments>(std::move(*known));
}

Argument FunctionArguments::result_of(const Function& function) {
  if (!parameters_) parameters_.emplace(file_);
  return parameters_->result_of(function);
}

std::shared_ptr<const Arguments> argument_registers() {
  static const auto arguments = [] {
    Arguments all;
    for (const Register reg : kArgumentRegisters) {
      Argument argument;
      argument.place = Argument::Place::in_register;
      argument.base = reg;
      argument.text = name_of(reg);
      all.push_back(argument);
    }
    return std::make_shared<const Arguments>(std::move(all));
  }();
  return arguments;
}

}  // namespace tracectl
