// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/object/definitions.h"

#include <algorithm>
#include <cctype>
#include <string_view>

#include "daemon/object/member_place.h"
#include "daemon/object/parameter_type.h"

namespace tracectl {
namespace {

using dwarf::Die;

constexpr size_t kMostSeenForDefinitions = 20'000'000;  // entries
constexpr size_t kMostDefinitions = 10'000;             // of one name
constexpr size_t kMostComparedMembers = 10'000;
constexpr int kDeepestCompared = 8;  // unnamed structs within each other

bool is_defined_by_members(unsigned tag) {
  return tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type;
}

std::string_view raw_name(const Die& die) {
  const char* name = ::dwarf_diename(const_cast<Die*>(&die));
  return name ? name : "";
}

// The entries from the unit's children down to that at the offset; empty if it is deeper than entries are read.
std::vector<Die> way_to(const Die& unit, Dwarf_Off offset) {
  std::vector<Die> way;
  Die around = unit;
  while (way.size() < dwarf::kDeepestEntry) {
    std::optional<Die> next;
    dwarf::each_child(around, [&](const Die& child) {
      if (::dwarf_dieoffset(const_cast<Die*>(&child)) > offset) return false;
      next = child;
      return true;
    });
    if (!next) return {};
    way.push_back(*next);
    if (::dwarf_dieoffset(&*next) == offset) return way;
    around = *next;
  }
  return {};
}

// The type's name after those of the types and namespaces around it; empty if it has none that other units could use.
std::vector<std::string> shared_names_of(const Die& type) {
  Die declared = dwarf::referred(type, DW_AT_specification).value_or(type);
  Die unit;
  if (!::dwarf_diecu(&declared, &unit, nullptr, nullptr)) return {};
  std::vector<std::string> names;
  for (const Die& one : way_to(unit, ::dwarf_dieoffset(&declared))) {
    const unsigned tag = dwarf::tag_of(one);
    const std::string_view name = raw_name(one);
    if (name.empty() || (tag != DW_TAG_namespace && !is_defined_by_members(tag))) return {};
    const bool is_inline = tag == DW_TAG_namespace && dwarf::flag(one, DW_AT_export_symbols);
    if (!is_inline) names.emplace_back(name);
  }
  return names;
}

// Of `A::B<C::D>`: A, and B<C::D>.
std::vector<std::string> split_at_colons(const std::string& name) {
  std::vector<std::string> names{""};
  int nesting = 0;
  for (size_t i = 0; i < name.size(); ++i) {
    nesting += (name[i] == '<') - (name[i] == '>');
    if (nesting == 0 && name.compare(i, 2, "::") == 0) {
      names.emplace_back();
      ++i;
    } else {
      names.back() += name[i];
    }
  }
  return names;
}

// What values of the type are read by.
struct ComparedMember {
  std::string name, type;
  uint64_t first_bit = 0, bit_count = 0, size = 0;
  bool operator==(const ComparedMember&) const = default;
};

uint64_t compared_size(const std::optional<Die>& type) {
  Dwarf_Word size = 0;
  return type && ::dwarf_aggregate_size(const_cast<Die*>(&*type), &size) == 0 ? size : 0;
}

// The truth value of C and that of C++ have two names, and are one type in a header that both use.
std::string compared_text(const std::optional<Die>& type) {
  constexpr std::string_view kOfC = "_Bool";
  std::string text = text_of_type(type);
  const size_t at = text.find(kOfC);
  const auto is_of_word = [&](size_t i) {
    return i < text.size() && (std::isalnum(static_cast<unsigned char>(text[i])) || text[i] == '_');
  };
  if (at == std::string::npos || (at > 0 && is_of_word(at - 1)) || is_of_word(at + kOfC.size()))
    return text;
  return text.replace(at, kOfC.size(), "bool");
}

// The type's own, and those of its unnamed structs. False if there are too many.
bool add_members(const Die& type, int depth, std::vector<ComparedMember>& all) {
  if (depth > kDeepestCompared) return false;
  bool is_complete = true;
  dwarf::each_child(type, [&](const Die& child) {
    const unsigned tag = dwarf::tag_of(child);
    const auto place =
        tag == DW_TAG_member || tag == DW_TAG_inheritance ? place_of_member(child) : std::nullopt;
    if (!place) return true;  // or it has no fixed place, and is never read
    const auto of_member = dwarf::type_of(child);
    all.push_back({dwarf::name_of(child), compared_text(of_member), place->first_bit,
                   place->bit_count, compared_size(of_member)});
    const auto within = stripped(of_member);
    const bool is_unnamed =
        within && is_defined_by_members(dwarf::tag_of(*within)) && raw_name(*within).empty();
    is_complete =
        all.size() <= kMostComparedMembers && (!is_unnamed || add_members(*within, depth + 1, all));
    return is_complete;
  });
  return is_complete;
}

// None if there is too much of it.
std::optional<std::vector<ComparedMember>> to_compare(const Die& type) {
  std::vector<ComparedMember> all{{{}, {}, 0, 0, compared_size(type)}};
  if (!add_members(type, 0, all)) return std::nullopt;
  return all;
}

bool are_the_same(const std::vector<Die>& definitions) {
  const auto first = to_compare(definitions.front());
  return first && std::all_of(definitions.begin() + 1, definitions.end(),
                              [&](const Die& other) { return to_compare(other) == first; });
}

}  // namespace

// Other units cannot mean a type that has no name for them.
Definitions::Found Definitions::of(const Die& type) {
  const Names& names = names_of(type);
  if (names.empty() && !dwarf::is_declaration(type)) return {type, {}, true};
  return find(names, type);
}

Definitions::Found Definitions::named(const std::string& name, const Die& in) {
  return find(split_at_colons(name), in);
}

const Definitions::Names& Definitions::names_of(const Die& type) {
  const auto [at, is_new] = names_.try_emplace(type.addr);
  if (is_new) at->second = shared_names_of(type);
  return at->second;
}

Definitions::Found Definitions::find(const Names& names, const Die& in) {
  const auto [at, is_new] =
      known_.try_emplace(std::pair<const Dwarf*, Names>{::dwarf_cu_getdwarf(in.cu), names});
  if (is_new) at->second = search(names, in);
  return at->second;
}

Definitions::Found Definitions::search(const Names& names, const Die& in) {
  Dwarf* const file = ::dwarf_cu_getdwarf(in.cu);
  if (names.empty() || !file) return {{}, " is only declared where this function was compiled"};
  definitions_.clear();
  seen_ = 0;
  Dwarf_CU* unit = nullptr;
  Die root;
  while (::dwarf_get_units(file, unit, &unit, nullptr, nullptr, &root, nullptr) == 0)
    if (!add_from(root, names, 0, 0)) break;
  if (seen_ > kMostSeenForDefinitions)
    return {{},
            " is not defined within the " + std::to_string(kMostSeenForDefinitions) +
                " entries of the file's debug information that are looked at"};
  if (definitions_.empty())
    return {{}, " is defined by none of the units whose debug information is here"};
  if (definitions_.size() == kMostDefinitions || !are_the_same(definitions_))
    return {{}, " is not the same in all units of the file", true};
  return {definitions_.front(), {}, true};
}

// Each returns false when the search is over.

bool Definitions::add_from(const Die& parent, const Names& names, size_t level, int depth) {
  if (depth > dwarf::kDeepestEntry) return true;
  bool goes_on = true;
  dwarf::each_child(parent, [&](const Die& child) {
    goes_on = ++seen_ <= kMostSeenForDefinitions && look_at(child, names, level, depth);
    return goes_on;
  });
  return goes_on;
}

bool Definitions::look_at(const Die& die, const Names& names, size_t level, int depth) {
  const unsigned tag = dwarf::tag_of(die);
  const bool is_namespace = tag == DW_TAG_namespace;
  if (!is_namespace && !is_defined_by_members(tag)) return true;
  const std::string_view name = raw_name(die);
  if (is_namespace && !name.empty() && dwarf::flag(die, DW_AT_export_symbols))
    return add_from(die, names, level, depth + 1);
  const bool is_last = level + 1 == names.size();
  if (name == names[level] && !is_last) return add_from(die, names, level + 1, depth + 1);
  if (is_namespace || dwarf::is_declaration(die)) return true;
  // Outside of its class stands the definition of what is declared in it.
  const auto declared = dwarf::referred(die, DW_AT_specification);
  const bool is_wanted =
      declared ? name == names.back() && names_of(die) == names : is_last && name == names[level];
  if (is_wanted) definitions_.push_back(die);
  return definitions_.size() < kMostDefinitions;
}

}  // namespace tracectl
