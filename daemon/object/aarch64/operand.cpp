// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/object/code/operand.h"

#include <charconv>

namespace tracectl {
namespace {

struct NamedRegister {
  Register reg;
  uint8_t size_bytes;
};

// x0 to x30, w0 to w30, and sp: Arm ARM, B1.2.1. Not the zero register, which is a constant.
std::optional<NamedRegister> register_named(std::string_view name) {
  if (name == "sp") return NamedRegister{Register::sp, 8};
  if (name.size() < 2 || (name[0] != 'x' && name[0] != 'w')) return std::nullopt;
  unsigned number = 0;
  const auto [end, err] = std::from_chars(name.data() + 1, name.data() + name.size(), number);
  if (err != std::errc{} || end != name.data() + name.size() || number > 30) return std::nullopt;
  return NamedRegister{static_cast<Register>(number), static_cast<uint8_t>(name[0] == 'x' ? 8 : 4)};
}

// A constant: `5`, `#5`.
bool read_constant(OperandText& text, Argument& argument) {
  text.skip('#');
  const auto value = text.number();
  if (!value) return false;
  argument.place = Argument::Place::constant;
  argument.offset = *value;
  return true;
}

void skip_spaces(OperandText& text) {
  while (text.skip(' ')) {}
}

// What follows `[`: BASE], BASE, OFFSET], or BASE, INDEX]. Compilers write no other form for an argument that may lie in
// memory.
bool read_memory(OperandText& text, Argument& argument) {
  const auto base = register_named(text.word());
  if (!base || base->size_bytes != 8) return false;
  argument.place = Argument::Place::memory;
  argument.base = base->reg;
  skip_spaces(text);
  if (text.skip(']')) return true;
  if (!text.skip(',')) return false;
  skip_spaces(text);
  if (text.peek() == 'x') {
    const auto index = register_named(text.word());
    if (!index) return false;
    argument.index = index->reg;
    return text.skip(']');
  }
  text.skip('#');
  const auto offset = text.number();
  if (!offset) return false;
  argument.offset = *offset;
  return text.skip(']');
}

}  // namespace

bool read_operand(OperandText& text, bool has_size, const SymbolLookup&, Argument& argument) {
  if (text.skip('[')) return read_memory(text, argument);
  const char first = text.peek();
  if (first == '#' || first == '-' || (first >= '0' && first <= '9'))
    return read_constant(text, argument);
  const std::string_view name = text.word();
  if (name == "xzr" || name == "wzr") {
    argument.place = Argument::Place::constant;
    return true;
  }
  const auto reg = register_named(name);
  if (!reg) return false;
  argument.place = Argument::Place::in_register;
  argument.base = reg->reg;
  if (!has_size) argument.size_bytes = reg->size_bytes;
  return true;
}

}  // namespace tracectl
