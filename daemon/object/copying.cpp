// SPDX-License-Identifier: BSD-2-Clause
//
// clang records how a class is passed (DW_AT_calling_convention); gcc 12 does not, but it lists the
// functions that a class declares.
#include "daemon/object/copying.h"

#include <vector>

#include "daemon/object/parameter_type.h"

namespace tracectl {
namespace {

using dwarf::Die;

constexpr int kDeepestClass = 16;
constexpr int kMostEntriesOfType = 4096;

bool is_class(const Die& type) {
  const unsigned tag = dwarf::tag_of(type);
  return tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type;
}

class Question {
 public:
  Copying ask(const Die& type) {
    look_at(type, 0);
    if (by_address_) return Copying::by_address;
    return uncertain_ ? Copying::uncertain : Copying::by_bytes;
  }

 private:
  void look_at(const Die& type, int depth) {
    uncertain_ |= depth > kDeepestClass || dwarf::flag(type, DW_AT_declaration);
    if (depth > kDeepestClass) return;
    const std::string name = dwarf::name_of(type);
    const bool whole = dwarf::each_child(type, [&](const Die& child) {
      if (++entries_ > kMostEntriesOfType) return false;
      look_at_child(type, name.substr(0, name.find('<')), child, depth);
      return !by_address_;
    });
    uncertain_ |= !whole && !by_address_;
  }

  void look_at_child(const Die& type, const std::string& name, const Die& child, int depth) {
    switch (dwarf::tag_of(child)) {
      case DW_TAG_subprogram: look_at_function(type, name, child); break;
      case DW_TAG_inheritance:
        by_address_ |= dwarf::number(child, DW_AT_virtuality).value_or(0) != 0;
        look_at_part(dwarf::type_of(child), depth);
        break;
      case DW_TAG_member:
        if (!dwarf::flag(child, DW_AT_external)) look_at_part(dwarf::type_of(child), depth);
        break;
      default: break;
    }
  }

  void look_at_part(const std::optional<Die>& declared, int depth) {
    auto type = stripped(declared);
    for (int i = 0; type && dwarf::tag_of(*type) == DW_TAG_array_type && i < kDeepestClass; ++i)
      type = stripped(dwarf::type_of(*type));
    if (!type)
      uncertain_ = true;
    else if (is_class(*type))
      look_at(*type, depth + 1);
  }

  // Functions that the compiler added itself follow from members and bases.
  void look_at_function(const Die& type, const std::string& name, const Die& function) {
    by_address_ |= dwarf::number(function, DW_AT_virtuality).value_or(0) != 0;
    if (dwarf::flag(function, DW_AT_artificial)) return;
    const std::string own = dwarf::name_of(function);
    const bool special = own.starts_with('~') ||
                         (own.substr(0, own.find('<')) == name && copies_or_moves(type, function));
    if (!special || dwarf::number(function, DW_AT_defaulted) == DW_DEFAULTED_in_class) return;
    (dwarf::flag(function, DW_AT_deleted) ? uncertain_ : by_address_) = true;
  }

  // Whether the constructor's first parameter is a reference to the class itself.
  static bool copies_or_moves(const Die& type, const Die& constructor) {
    std::vector<Die> parameters;
    dwarf::each_child(constructor, [&](const Die& child) {
      if (dwarf::tag_of(child) == DW_TAG_formal_parameter && !dwarf::flag(child, DW_AT_artificial))
        parameters.push_back(child);
      return parameters.empty();
    });
    if (parameters.empty()) return false;
    const auto reference = stripped(dwarf::type_of(parameters.front()));
    if (!reference) return false;
    const unsigned tag = dwarf::tag_of(*reference);
    if (tag != DW_TAG_reference_type && tag != DW_TAG_rvalue_reference_type) return false;
    const auto target = stripped(dwarf::type_of(*reference));
    return target && target->addr == type.addr;
  }

  int entries_ = 0;
  bool by_address_ = false;
  bool uncertain_ = false;
};

}  // namespace

Copying copying_of(const Die& type) { return Question{}.ask(type); }

}  // namespace tracectl
