// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/object/member_place.h"

#include <climits>

namespace tracectl {
namespace {

using dwarf::Die;

constexpr uint64_t kFarthestByte = 1 << 30;
constexpr uint64_t kMostBits = 64;

// DWARF 4 counts from the storage unit's highest bit, DWARF 5 from the struct's first.
std::optional<uint64_t> first_bit_of(const Die& member, uint64_t bit_count, uint64_t byte) {
  if (const auto first = dwarf::number(member, DW_AT_data_bit_offset)) return first;
  const auto unit = dwarf::number(member, DW_AT_byte_size);
  const auto below = dwarf::number(member, DW_AT_bit_offset);
  if (!unit || !below) return std::nullopt;
  return byte * CHAR_BIT + *unit * CHAR_BIT - *below - bit_count;
}

}  // namespace

bool is_in_struct(const Die& member) {
  const unsigned tag = dwarf::tag_of(member);
  return (tag == DW_TAG_member || tag == DW_TAG_inheritance) &&
         !dwarf::flag(member, DW_AT_external) && !dwarf::flag(member, DW_AT_declaration);
}

std::optional<MemberPlace> place_of_member(const Die& member) {
  const auto location = dwarf::number(member, DW_AT_data_member_location);
  if (!location && dwarf::has(member, DW_AT_data_member_location)) return std::nullopt;
  const uint64_t byte = location.value_or(0);
  if (byte > kFarthestByte) return std::nullopt;
  if (!dwarf::has(member, DW_AT_bit_size)) return MemberPlace{byte * CHAR_BIT, 0};
  const auto count = dwarf::number(member, DW_AT_bit_size);
  if (!count || *count == 0 || *count > kMostBits) return std::nullopt;
  const auto first = first_bit_of(member, *count, byte);
  if (!first || *first > kFarthestByte * CHAR_BIT) return std::nullopt;
  return MemberPlace{*first, *count};
}

}  // namespace tracectl
