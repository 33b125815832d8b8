// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/object/die.h"

#include <cstring>

namespace tracectl::dwarf {
namespace {

constexpr size_t kLongestDieName = 256;

}  // namespace

std::optional<Dwarf_Attribute> attribute(const Die& die, unsigned name) {
  Dwarf_Attribute found;
  if (!::dwarf_attr_integrate(const_cast<Die*>(&die), name, &found)) return std::nullopt;
  return found;
}

bool has(const Die& die, unsigned name) { return attribute(die, name).has_value(); }

bool flag(const Die& die, unsigned name) {
  auto found = attribute(die, name);
  bool value = false;
  return found && ::dwarf_formflag(&*found, &value) == 0 && value;
}

std::optional<uint64_t> number(const Die& die, unsigned name) {
  auto found = attribute(die, name);
  if (!found) return std::nullopt;
  Dwarf_Sword signed_value = 0;
  if (::dwarf_whatform(&*found) == DW_FORM_sdata ||
      ::dwarf_whatform(&*found) == DW_FORM_implicit_const) {
    if (::dwarf_formsdata(&*found, &signed_value) != 0) return std::nullopt;
    return static_cast<uint64_t>(signed_value);
  }
  Dwarf_Word value = 0;
  if (::dwarf_formudata(&*found, &value) != 0) return std::nullopt;
  return value;
}

std::optional<Die> referred(const Die& die, unsigned name) {
  auto found = attribute(die, name);
  Die target;
  if (!found || !::dwarf_formref_die(&*found, &target)) return std::nullopt;
  return target;
}

std::string name_of(const Die& die) {
  auto found = attribute(die, DW_AT_name);
  const char* text = found ? ::dwarf_formstring(&*found) : nullptr;
  if (!text) return {};
  std::string name(text, ::strnlen(text, kLongestDieName));
  for (char& c : name)
    if (c < ' ' || c > '~') c = '?';
  return name;
}

bool is_of_symbol(const Die& function, const std::string& symbol) {
  auto linkage = attribute(function, DW_AT_linkage_name);
  const char* text = linkage ? ::dwarf_formstring(&*linkage) : nullptr;
  return symbol == (text ? text : name_of(function));
}

}  // namespace tracectl::dwarf
