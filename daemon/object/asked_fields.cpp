// SPDX-License-Identifier: BSD-2-Clause
#include <algorithm>
#include <utility>

#include "daemon/object/field_finder.h"
#include "daemon/object/text_class.h"

namespace tracectl {

AskedFields::AskedFields(const FieldsAsked& asked) : levels_(asked.levels) {
  for (const std::string& text : asked.paths)
    if (auto path = parse_place(text)) paths_.push_back(*std::move(path));
}

template <class IsBase>
std::shared_ptr<const ReachedFields> AskedFields::of(IsBase is_base, const FieldOwner& owner,
                                                     TypeReader& types) {
  std::vector<size_t> asked;
  for (size_t i = 0; i < paths_.size(); ++i)
    if (is_base(paths_[i].base)) asked.push_back(i);
  if (asked.empty()) return nullptr;
  const void* type = owner.type ? owner.type->addr : nullptr;
  const void* unit = owner.unit ? owner.unit->addr : nullptr;
  auto& known = known_[{type, unit, owner.by_address, owner.cxx, asked}];
  if (!known) known = find(asked, owner, types);
  return known;
}

std::shared_ptr<const ReachedFields> AskedFields::find(const std::vector<size_t>& asked,
                                                       const FieldOwner& owner,
                                                       TypeReader& types) const {
  ReachedFields fields;
  for (const size_t i : asked) {
    ReachedField field = find_field(paths_[i], owner, types);
    const bool is_text =
        field.text || (!field.why_not.empty() && field.type.kind == Argument::Kind::text);
    if (!paths_[i].steps.empty() || is_text) fields.push_back(std::move(field));
  }
  return std::make_shared<const ReachedFields>(std::move(fields));
}

std::shared_ptr<const ReachedFields> AskedFields::listed(const std::string& base,
                                                         const FieldOwner& owner,
                                                         TypeReader& types) {
  const void* type = owner.type ? owner.type->addr : nullptr;
  auto& known = listed_[{type, owner.by_address, owner.cxx, base}];
  if (!known)
    known = std::make_shared<const ReachedFields>(list_fields(base, levels_, owner, types));
  return known;
}

std::shared_ptr<const ReachedFields> AskedFields::of_argument(size_t index, const std::string& name,
                                                              const FieldOwner& owner,
                                                              TypeReader& types) {
  const std::string numbered = "arg" + std::to_string(index), named = "arg." + name;
  if (levels_ > 0) return listed(name.empty() ? numbered : named, owner, types);
  return of([&](const std::string& base) { return base == numbered || base == named; }, owner,
            types);
}

std::shared_ptr<const ReachedFields> AskedFields::of_result(const FieldOwner& owner,
                                                            TypeReader& types) {
  if (levels_ > 0) return listed("retval", owner, types);
  return of([](const std::string& base) { return base == "retval"; }, owner, types);
}

std::optional<TextPlace> AskedFields::of_text_by_value(
    const std::string& name, const std::optional<dwarf::Die>& type) const {
  const auto is_it = [&](const FieldPath& path) {
    return path.steps.empty() && path.base == "arg." + name;
  };
  const auto plain = stripped(type);
  if (name.empty() || !plain || !is_text_class(*plain)) return std::nullopt;
  if (levels_ == 0 && std::ranges::none_of(paths_, is_it)) return std::nullopt;
  return text_of_class(*plain).place;
}

}  // namespace tracectl
