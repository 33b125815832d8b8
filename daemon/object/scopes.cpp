// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/object/scopes.h"

#include <algorithm>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "daemon/object/members.h"
#include "daemon/object/parameter_type.h"

namespace tracectl {
namespace {

using dwarf::Die;

constexpr size_t kMostEntriesOfScope = 1'000'000;  // that are looked at for one name
constexpr size_t kMostVariableNames = 1'000;
constexpr int kDeepestOfObject = 16;  // in unnamed members and base classes

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

template <class Take> void each_variable(const Die& block, Take take) {
  size_t seen = 0;
  dwarf::each_child(block, [&](const Die& child) {
    if (is_variable_entry(child) && !dwarf::is_declaration(child)) take(child);
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

// A static member of a class, which only its functions mean by its bare name.
bool is_of_class(const Die& variable) {
  const auto declared = dwarf::referred(variable, DW_AT_specification);
  return declared && dwarf::tag_of(*declared) == DW_TAG_member;
}

bool begins_at(const Die& block, uint64_t address) {
  Dwarf_Addr base = 0, begin = 0, end = 0;
  size_t seen = 0;
  for (ptrdiff_t at = 0; ++seen < kMostEntriesOfScope;) {
    at = ::dwarf_ranges(const_cast<Die*>(&block), at, &base, &begin, &end);
    if (at <= 0) return false;
    if (begin == address) return true;
  }
  return true;
}

std::string file_name_of_entry(const Die& die) {
  const char* path = ::dwarf_decl_file(const_cast<Die*>(&die));
  const std::string_view text = path ? path : "";
  return std::string(text.substr(text.rfind('/') + 1));
}

}  // namespace

Scopes::Scopes(const Die& function, uint64_t address, uint64_t base, Line line)
    : line_(std::move(line)) {
  blocks_.push_back(function);
  add_around(address - base);
}

void Scopes::add_around(uint64_t address) {
  std::vector<Die> inwards{blocks_.front()};
  Die function = blocks_.front();  // that of the innermost block so far
  for (bool any = true; any && inwards.size() < dwarf::kDeepestEntry;) {
    any = false;
    size_t seen = 0;
    dwarf::each_child(Die(inwards.back()), [&](const Die& child) {
      if (is_block(child) && ::dwarf_haspc(const_cast<Die*>(&child), address) == 1) {
        const bool is_at_start = is_inlined(child) && begins_at(child, address);
        const Owner owner = is_at_start ? owner_of_line(function, child) : Owner::inlined;
        if (owner == Owner::unclear)
          why_unclear_ =
              "code of two functions begins at the instruction, and it is not known "
              "which of them has the line";
        if (owner != Owner::inlined) return false;
        inwards.push_back(child);
        if (is_inlined(child)) function = child;
        any = true;
      }
      return !any && ++seen < kMostEntriesOfScope;
    });
  }
  const auto own = std::find_if(inwards.rbegin(), inwards.rend(), is_inlined);
  const auto last = own == inwards.rend() ? own : own + 1;
  blocks_.assign(inwards.rbegin(), last);
}

// The inlined function begins where the caller's line, or one before it, has its code, too.
Scopes::Owner Scopes::owner_of_line(const Die& caller, const Die& inlined) const {
  const std::string file = line_.source.substr(line_.source.rfind('/') + 1);
  const std::string of_inlined = file_name_of_entry(inlined),
                    of_caller = file_name_of_entry(caller);
  if (of_inlined.empty() || of_caller.empty()) return Owner::unclear;
  if (of_inlined != of_caller)
    return of_inlined == file ? Owner::inlined : of_caller == file ? Owner::caller : Owner::unclear;
  const auto begins = dwarf::number(inlined, DW_AT_decl_line);
  const auto caller_begins = dwarf::number(caller, DW_AT_decl_line);
  const auto called = dwarf::number(inlined, DW_AT_call_line);
  if (!begins || !caller_begins || !called) return Owner::unclear;
  if (line_.number < *begins || *called == line_.number) return Owner::caller;
  if (line_.number < *caller_begins) return Owner::inlined;
  if (*begins < *caller_begins) return Owner::caller;
  // The inlined one comes later in the source, and may be a lambda within the caller.
  return *called < *begins ? Owner::inlined : Owner::unclear;
}

bool Scopes::is_there(const Die& variable) const {
  return !begins_ || dwarf::tag_of(variable) == DW_TAG_formal_parameter;
}

bool Scopes::is_member(const std::string& name) const {
  std::optional<Die> object;
  each_variable(blocks_.back(), [&](const Die& variable) {
    if (!object && dwarf::name_of(variable) == "this") object = variable;
  });
  const auto pointer = object ? stripped(dwarf::type_of(*object)) : std::nullopt;
  const auto type = pointer ? stripped(dwarf::type_of(*pointer)) : std::nullopt;
  if (!type) return false;
  MemberSearch search(name, kDeepestOfObject, kMostEntriesOfScope);
  return search.run(*type).has_value() || !search.limit().empty();
}

std::vector<Die> Scopes::named(const std::string& name) const {
  std::vector<Die> found;
  const Die& function = blocks_.back();
  for (const Die& block : blocks_) {
    each_variable(block, [&](const Die& variable) {
      if (dwarf::name_of(variable) == name && is_there(variable) &&
          !is_declared_later(variable, function, line_.number))
        found.push_back(variable);
    });
    if (!found.empty()) return found;
  }
  // A function that was inlined from another unit means the variables of that.
  Die source = dwarf::referred(function, DW_AT_abstract_origin).value_or(function);
  Die unit;
  if (is_removed(name) || is_member(name) || !::dwarf_diecu(&source, &unit, nullptr, nullptr))
    return found;
  each_variable(unit, [&](const Die& variable) {
    if (dwarf::name_of(variable) == name && !is_of_class(variable)) found.push_back(variable);
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
      if (!name.empty() && is_there(variable) && all.size() < kMostVariableNames &&
          seen.insert(name).second)
        all.push_back(std::move(name));
    });
  return all;
}

}  // namespace tracectl
