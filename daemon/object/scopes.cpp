// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/object/scopes.h"

#include <algorithm>
#include <unordered_set>

namespace tracectl {
namespace {

using dwarf::Die;

constexpr size_t kMostEntriesOfScope = 1'000'000;  // that are looked at for one name
constexpr size_t kMostVariableNames = 1'000;

bool is_inlined(const Die& die) { return dwarf::tag_of(die) == DW_TAG_inlined_subroutine; }

bool is_block(const Die& die) {
  switch (dwarf::tag_of(die)) {
    case DW_TAG_lexical_block:
    case DW_TAG_try_block:
    case DW_TAG_catch_block:
    case DW_TAG_inlined_subroutine: return true;
    default: return false;
  }
}

bool is_variable_entry(const Die& die) {
  const unsigned tag = dwarf::tag_of(die);
  return tag == DW_TAG_variable || tag == DW_TAG_formal_parameter;
}

// A declaration only says that the variable is elsewhere.
bool is_declaration(const Die& die) {
  Dwarf_Attribute own;
  bool value = false;
  return ::dwarf_attr(const_cast<Die*>(&die), DW_AT_declaration, &own) &&
         ::dwarf_formflag(&own, &value) == 0 && value;
}

template <class Take> void each_variable(const Die& block, Take take) {
  size_t seen = 0;
  dwarf::each_child(block, [&](const Die& child) {
    if (is_variable_entry(child) && !is_declaration(child)) take(child);
    return ++seen < kMostEntriesOfScope;
  });
}

// Lines of one source file are compared.
bool is_declared_later(const Die& variable, const Die& function, uint32_t line) {
  if (dwarf::tag_of(variable) != DW_TAG_variable) return false;
  const auto declared = dwarf::number(variable, DW_AT_decl_line);
  const auto begins = dwarf::number(function, DW_AT_decl_line);
  return declared && begins && *begins <= line && *declared > line &&
         dwarf::number(variable, DW_AT_decl_file) == dwarf::number(function, DW_AT_decl_file);
}

bool has_name(const Die& block, const std::string& name, int depth) {
  bool found = false;
  size_t seen = 0;
  dwarf::each_child(block, [&](const Die& child) {
    if (is_variable_entry(child))
      found = dwarf::name_of(child) == name;
    else if (dwarf::tag_of(child) == DW_TAG_lexical_block && depth < dwarf::kDeepestEntry)
      found = has_name(child, name, depth + 1);
    return !found && ++seen < kMostEntriesOfScope;
  });
  return found;
}

}  // namespace

Scopes::Scopes(const Die& function, uint64_t address, uint64_t base) {
  blocks_.push_back(function);
  add_around(address - base);
}

void Scopes::add_around(uint64_t address) {
  std::vector<Die> inwards{blocks_.front()};
  for (bool any = true; any && inwards.size() < dwarf::kDeepestEntry;) {
    any = false;
    size_t seen = 0;
    dwarf::each_child(Die(inwards.back()), [&](const Die& child) {
      if (is_block(child) && ::dwarf_haspc(const_cast<Die*>(&child), address) == 1) {
        inwards.push_back(child);
        any = true;
      }
      return !any && ++seen < kMostEntriesOfScope;
    });
  }
  const auto own = std::find_if(inwards.rbegin(), inwards.rend(), is_inlined);
  const auto last = own == inwards.rend() ? own : own + 1;
  blocks_.assign(inwards.rbegin(), last);
}

std::vector<Die> Scopes::named(const std::string& name, uint32_t line) const {
  std::vector<Die> found;
  const Die& function = blocks_.back();
  for (const Die& block : blocks_) {
    each_variable(block, [&](const Die& variable) {
      if (dwarf::name_of(variable) == name && !is_declared_later(variable, function, line))
        found.push_back(variable);
    });
    if (!found.empty()) return found;
  }
  Die unit;
  if (is_removed(name) || !::dwarf_diecu(const_cast<Die*>(&function), &unit, nullptr, nullptr))
    return found;
  each_variable(unit, [&](const Die& variable) {
    if (dwarf::name_of(variable) == name) found.push_back(variable);
  });
  return found;
}

bool Scopes::is_removed(const std::string& name) const {
  const auto described = dwarf::referred(blocks_.back(), DW_AT_abstract_origin);
  return described && has_name(*described, name, 0);
}

std::vector<std::string> Scopes::names() const {
  std::vector<std::string> all;
  std::unordered_set<std::string> seen;
  for (const Die& block : blocks_)
    each_variable(block, [&](const Die& variable) {
      std::string name = dwarf::name_of(variable);
      if (!name.empty() && all.size() < kMostVariableNames && seen.insert(name).second)
        all.push_back(std::move(name));
    });
  return all;
}

}  // namespace tracectl
