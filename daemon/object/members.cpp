// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/object/members.h"

#include "daemon/object/member_place.h"
#include "daemon/object/parameter_type.h"

namespace tracectl {

using dwarf::Die;

std::optional<FoundMember> MemberSearch::run(const Die& type) {
  search(type, 0, 0);
  return limit_.empty() ? found_ : std::nullopt;
}

// Each returns whether the search is over.

bool MemberSearch::is_within(int depth) {
  if (depth > deepest_)
    limit_ =
        "it has unnamed members and base classes more than " + std::to_string(deepest_) + " deep";
  else if (++seen_ > most_)
    limit_ = "it has more than " + std::to_string(most_) + " members";
  return limit_.empty();
}

// Names of a class hide those of its bases.
bool MemberSearch::search(const Die& type, uint64_t at_bit, int depth) {
  const auto each = [&](unsigned tag) {
    bool is_over = false;
    dwarf::each_child(type, [&](const Die& child) {
      is_over = !is_within(depth) || (dwarf::tag_of(child) == tag && is_in_struct(child) &&
                                      look_at(child, at_bit, depth));
      return !is_over;
    });
    return is_over;
  };
  return each(DW_TAG_member) || each(DW_TAG_inheritance);
}

bool MemberSearch::look_at(const Die& member, uint64_t at_bit, int depth) {
  const std::string name = dwarf::name_of(member);
  const bool is_base = dwarf::tag_of(member) == DW_TAG_inheritance;
  if (!is_base && !name.empty() && name != name_) {
    names_.push_back(name);
    return false;
  }
  const auto place = place_of_member(member);
  if (!place) {
    has_virtual_base_ |= is_base;
    return false;
  }
  if (is_base || name.empty()) return look_below(member, at_bit + place->first_bit, depth);
  found_ = FoundMember{dwarf::type_of(member), at_bit + place->first_bit, place->bit_count};
  return true;
}

bool MemberSearch::look_below(const Die& member, uint64_t at_bit, int depth) {
  const auto type = stripped(dwarf::type_of(member));
  return type && search(*type, at_bit, depth + 1);
}

}  // namespace tracectl
