// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/object/function_arguments.h"

#include "daemon/object/code/machine.h"
#include "daemon/object/go_parameters.h"

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
  if (!parameters_) parameters_.emplace(file_, fields_);
  if (const GoCode go = go_code_of(file_, function); go != GoCode::none) return of_go(function, go);
  auto known = parameters_->of(function);
  if (!known) return argument_registers();
  // Instructions other than such a mark leave the argument registers unchanged, but may have moved the stack pointer.
  const bool moved = moved_bytes > code.size() || !is_entry_mark(code.first(moved_bytes));
  if (moved_bytes && moved) lose_stack(*known);
  return std::make_shared<const Arguments>(std::move(*known));
}

std::shared_ptr<const Arguments> FunctionArguments::within(const Function& function) {
  return go_code_of(file_, function) == GoCode::none ? argument_registers()
                                                     : go_argument_registers();
}

Argument FunctionArguments::result_of(const Function& function) {
  if (!parameters_) parameters_.emplace(file_, fields_);
  if (go_code_of(file_, function) != GoCode::none) return parameters_->result_of_go(function);
  return parameters_->result_of(function);
}

std::shared_ptr<const Arguments> FunctionArguments::of_go(const Function& function, GoCode code) {
  if (code == GoCode::unknown) return unreadable_arguments(why_go_is_unknown(file_));
  if (code != GoCode::compiled)
    return unreadable_arguments("in Go's assembly, and calls of it, arguments may be on the stack");
  auto known = parameters_->of_go(function);
  return known ? std::make_shared<const Arguments>(std::move(*known)) : go_argument_registers();
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
