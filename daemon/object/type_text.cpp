// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/object/parameter_type.h"

namespace tracectl {
namespace {

using dwarf::Die;

constexpr size_t kLongestText = 64;
constexpr int kDeepestType = 16;

std::string text_at(const std::optional<Die>& type, int depth);

std::string tagged(const char* tag, const Die& type) {
  std::string name = dwarf::name_of(type);
  if (name.empty())  // it may be in a type unit
    if (const auto whole = dwarf::referred(type, DW_AT_signature)) name = dwarf::name_of(*whole);
  return name.empty() ? tag : std::string{tag} + " " + name;
}

std::string pointing(const char* sign, const Die& type, int depth) {
  const auto target = dwarf::type_of(type);
  if (target && dwarf::tag_of(*target) == DW_TAG_subroutine_type)
    return text_at(dwarf::type_of(*target), depth + 1) + " (" + sign + ")()";
  if (target && dwarf::tag_of(*target) == DW_TAG_array_type)
    return text_at(dwarf::type_of(*target), depth + 1) + " (" + sign + ")[]";
  const std::string text = text_at(target, depth + 1);
  return text + (text.ends_with('*') ? "" : " ") + sign;
}

std::string qualified(const char* word, const Die& type, int depth) {
  const std::string text = text_at(dwarf::type_of(type), depth + 1);
  return text.ends_with('*') ? text + word : std::string{word} + " " + text;
}

std::string text_at(const std::optional<Die>& type, int depth) {
  if (!type) return "void";
  if (depth > kDeepestType) return "...";
  switch (dwarf::tag_of(*type)) {
    case DW_TAG_const_type: return qualified("const", *type, depth);
    case DW_TAG_volatile_type: return qualified("volatile", *type, depth);
    case DW_TAG_atomic_type: return qualified("_Atomic", *type, depth);
    case DW_TAG_restrict_type: return text_at(dwarf::type_of(*type), depth + 1);
    case DW_TAG_pointer_type: return pointing("*", *type, depth);
    case DW_TAG_reference_type: return pointing("&", *type, depth);
    case DW_TAG_rvalue_reference_type: return pointing("&&", *type, depth);
    case DW_TAG_structure_type: return tagged("struct", *type);
    case DW_TAG_class_type: return tagged("class", *type);
    case DW_TAG_union_type: return tagged("union", *type);
    case DW_TAG_enumeration_type: return tagged("enum", *type);
    case DW_TAG_array_type: return text_at(dwarf::type_of(*type), depth + 1) + " []";
    case DW_TAG_ptr_to_member_type: return "pointer to member";
    default: return dwarf::name_of(*type);
  }
}

}  // namespace

std::string text_of_type(const std::optional<Die>& type) {
  std::string text = text_at(type, 0);
  if (text.size() > kLongestText) text.replace(kLongestText - 3, std::string::npos, "...");
  return text;
}

}  // namespace tracectl
