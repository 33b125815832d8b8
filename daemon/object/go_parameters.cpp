// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/object/go_parameters.h"

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "daemon/object/arg_spec.h"
#include "daemon/object/code/machine.h"

namespace tracectl {
namespace {

using dwarf::Die;
using Kind = Argument::Kind;

constexpr size_t kMostGoParameters = 64;
constexpr size_t kMostUnreadable =
    6;  // shown of a function whose number of parameters is not known

struct Signature {
  std::vector<Die> parameters;
  std::vector<Die> results;
};

// Go's compiler describes results as parameters with a flag.
Signature signature_of(const Die& function) {
  Signature all;
  dwarf::each_child(function, [&](const Die& child) {
    if (dwarf::tag_of(child) != DW_TAG_formal_parameter) return true;
    (dwarf::flag(child, DW_AT_variable_parameter) ? all.results : all.parameters).push_back(child);
    return all.parameters.size() + all.results.size() < kMostGoParameters;
  });
  return all;
}

// The registers that have the parts of a value at the entry, in their order; empty if it is elsewhere.
std::vector<Register> registers_of(const Die& parameter, uint64_t entry) {
  auto location = dwarf::attribute(parameter, DW_AT_location);
  Dwarf_Op* ops = nullptr;
  size_t count = 0;
  std::vector<Register> registers;
  if (!location || ::dwarf_getlocation_addr(&*location, entry, &ops, &count, 1) != 1) return {};
  for (const Dwarf_Op& op : std::span(ops, count)) {
    if (op.atom == DW_OP_piece) continue;
    const bool is_register = op.atom >= DW_OP_reg0 && op.atom <= DW_OP_reg31;
    const auto reg = is_register ? register_of_dwarf(op.atom - DW_OP_reg0) : std::nullopt;
    if (!reg || std::ranges::find(kGoRegisters, *reg) == kGoRegisters.end()) return {};
    registers.push_back(*reg);
  }
  return registers;
}

std::string go_name_of(const std::optional<Die>& type) {
  const std::string name = type ? dwarf::name_of(*type) : "";
  return name.empty() ? text_of_type(type) : name;
}

// A function, a map and a channel are each an address.
bool is_address(const std::optional<Die>& type) {
  const auto plain = stripped(type);
  if (!plain) return false;
  const unsigned tag = dwarf::tag_of(*plain);
  return tag == DW_TAG_pointer_type || tag == DW_TAG_subroutine_type;
}

// The type, without a place.
Argument typed(const Die& of, TypeReader& types) {
  const auto type = dwarf::type_of(of);
  Argument argument = types.read(type, false).value;
  argument.declared_type = go_name_of(type);
  if (!is_address(type)) return argument;
  argument.kind = Kind::pointer;
  argument.is_signed = false;
  argument.size_bytes = 8;
  return argument;
}

Argument in_register(Argument argument, Register reg) {
  argument.place = Argument::Place::in_register;
  argument.base = reg;
  argument.text = name_of(reg);
  return argument;
}

std::string why_unreadable(const Argument& argument, const std::vector<Register>& registers) {
  if (argument.is_float) return "in a vector register";
  if (registers.empty()) return "the debug information names no register for it at the entry";
  return "in several registers, or in parts";
}

void add_string(Argument bytes, const std::vector<Register>& registers, Arguments& to) {
  bytes.kind = Kind::text;
  bytes.is_signed = false;
  bytes.is_shown_as_text = bytes.length_behind = true;
  bytes.size_bytes = 8;
  Argument length{.is_signed = true};
  length.declared_type = "int";
  to.push_back(in_register(std::move(bytes), registers[0]));
  to.push_back(in_register(std::move(length), registers[1]));
}

void add_go_parameter(const Die& parameter, uint64_t entry, TypeReader& types, Arguments& to) {
  const auto registers = registers_of(parameter, entry);
  Argument argument = typed(parameter, types);
  argument.name = dwarf::name_of(parameter);
  if (argument.declared_type == "string" && registers.size() == 2)
    return add_string(std::move(argument), registers, to);
  const bool is_word = argument.kind != Kind::aggregate && !argument.is_float;
  if (is_word && registers.size() == 1) {
    to.push_back(in_register(std::move(argument), registers[0]));
    return;
  }
  argument.text = why_unreadable(argument, registers);
  to.push_back(std::move(argument));
  if (to.back().declared_type == "string") to.push_back({.text = to.back().text});
}

Argument unreadable_go_result(Argument type, const std::string& why) {
  type.text = type.declared_type + " " + why;
  return type;
}

}  // namespace

Arguments go_arguments(const Die& function, uint64_t entry, TypeReader& types) {
  Arguments arguments;
  for (const Die& parameter : signature_of(function).parameters)
    if (arguments.size() < kMostArguments) add_go_parameter(parameter, entry, types, arguments);
  if (arguments.size() > kMostArguments) arguments.resize(kMostArguments);
  return arguments;
}

Argument go_result(const Die& function, TypeReader& types) {
  const auto results = signature_of(function).results;
  if (results.empty()) {
    Argument none{.place = Argument::Place::nothing};
    none.text = "nothing";
    none.declared_type = "void";
    return none;
  }
  Argument result = typed(results[0], types);
  if (results.size() > 1)
    return unreadable_go_result(std::move(result),
                                "and other results, more than an event has room for");
  if (result.is_float) return unreadable_go_result(std::move(result), "in a vector register");
  if (result.kind == Kind::aggregate)
    return unreadable_go_result(std::move(result), "not in one register");
  return in_register(std::move(result), kResult);
}

std::shared_ptr<const Arguments> go_argument_registers() {
  static const auto arguments = [] {
    Arguments all;
    for (const Register reg : kGoRegisters) all.push_back(in_register({}, reg));
    return std::make_shared<const Arguments>(std::move(all));
  }();
  return arguments;
}

std::shared_ptr<const Arguments> unreadable_arguments(const std::string& why) {
  Argument one{.kind = Kind::aggregate};
  one.text = why;
  return std::make_shared<const Arguments>(kMostUnreadable, one);
}

}  // namespace tracectl
