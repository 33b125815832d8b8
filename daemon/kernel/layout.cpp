// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/kernel/layout.h"

#include <algorithm>

namespace tracectl {
namespace {

uint8_t shift_of(uint8_t scale) { return scale == 8 ? 3 : scale == 4 ? 2 : scale == 2 ? 1 : 0; }

static_assert(static_cast<int>(kInstructionPointer) == TC_INSTRUCTION_POINTER);
static_assert(static_cast<int>(kStackPointer) == TC_STACK_POINTER);
static_assert(kRegisters == TC_NO_REGISTER);
static_assert(kMostOperands == TC_MAX_ARGS);

uint8_t number_of(Register reg) {
  return reg == Register::none ? uint8_t{TC_NO_REGISTER} : static_cast<uint8_t>(reg);
}

tc_arg_place place_of(const Argument& argument) {
  // An address within the file has no meaning in a process until it is relocated.
  if (argument.link_relative) return TC_ARG_UNREADABLE;
  switch (argument.place) {
    case Argument::Place::unreadable:
    case Argument::Place::nothing: return TC_ARG_UNREADABLE;
    case Argument::Place::constant: return TC_ARG_CONSTANT;
    case Argument::Place::in_register: return TC_ARG_REGISTER;
    case Argument::Place::memory: return TC_ARG_MEMORY;
    case Argument::Place::symbol:
      return argument.base == Register::none ? TC_ARG_CONSTANT : TC_ARG_REGISTER;
  }
  return TC_ARG_UNREADABLE;
}

tc_arg encode(const Argument& argument) {
  return tc_arg{.place = static_cast<uint8_t>(place_of(argument)),
                .size = argument.size_bytes,
                .base = number_of(argument.base),
                .index = number_of(argument.index),
                .scale_shift = shift_of(argument.scale),
                .value_shift = static_cast<uint8_t>(argument.high_byte ? 8 : 0),
                .pad = {},
                .offset = argument.place == Argument::Place::in_register ? 0 : argument.offset};
}

}  // namespace

tc_layout layout_of(const Arguments& arguments) {
  tc_layout layout{};
  const size_t count = std::min<size_t>(arguments.size(), TC_MAX_ARGS);
  layout.arg_count = static_cast<uint32_t>(std::min(count, count_of_probe(arguments)));
  for (size_t i = 0; i < count; ++i) layout.args[i] = encode(arguments[i]);
  return layout;
}

}  // namespace tracectl
