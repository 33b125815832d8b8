// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/model/argument.h"

#include <algorithm>
#include <utility>

namespace tracectl {

Argument bare_register(std::string name) {
  Argument result{.place = Argument::Place::in_register, .is_signed = true};
  result.text = name;
  result.name = std::move(name);
  return result;
}

std::string type_name(const Argument& argument) {
  if (argument.kind == Argument::Kind::aggregate && !argument.declared_type.empty())
    return argument.declared_type;
  const char* kind = argument.is_float ? "f" : argument.is_signed ? "s" : "u";
  return kind + std::to_string(argument.size_bytes * 8);
}

const char* kind_name(const Argument& argument) {
  if (argument.place == Argument::Place::nothing) return "void";
  switch (argument.kind) {
    case Argument::Kind::integer: return argument.is_float ? "float" : "integer";
    case Argument::Kind::boolean: return "boolean";
    case Argument::Kind::character: return "character";
    case Argument::Kind::enumeration: return "enumeration";
    case Argument::Kind::pointer: return "pointer";
    case Argument::Kind::text: return "text";
    case Argument::Kind::aggregate: return "aggregate";
  }
  return "integer";
}

namespace {

bool is_symbol(const Argument& argument) { return argument.place == Argument::Place::symbol; }

std::optional<size_t> index_from(size_t first, size_t last, const Arguments& arguments,
                                 std::string_view name) {
  for (size_t i = first; i < last; ++i)
    if (arguments[i].name == name) return i;
  return std::nullopt;
}

}  // namespace

size_t count_of_probe(const Arguments& arguments) {
  return static_cast<size_t>(std::ranges::find_if(arguments, is_symbol) - arguments.begin());
}

std::optional<size_t> index_of(const Arguments& arguments, std::string_view name) {
  if (name.empty()) return std::nullopt;
  return index_from(0, count_of_probe(arguments), arguments, name);
}

std::optional<size_t> index_of_symbol(const Arguments& arguments, std::string_view name) {
  return index_from(count_of_probe(arguments), arguments.size(), arguments, name);
}

const Enumerator* find_enumerator(const Argument& argument, int64_t value) {
  if (!argument.enumerators) return nullptr;
  for (const Enumerator& one : *argument.enumerators)
    if (one.value == value) return &one;
  return nullptr;
}

}  // namespace tracectl
