// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/model/value.h"

#include <fmt/format.h>

#include <concepts>

#include "daemon/model/number.h"

namespace tracectl {
namespace {

constexpr unsigned kWordBits = 64;
constexpr size_t kMostMemberBytes = 1024;  // of a struct's text: names are as long as a file says

uint64_t bits_of(const Member& member, const ResultRegisters& registers) {
  const unsigned above = kWordBits - member.bit_count - member.first_bit % kWordBits;
  const uint64_t shifted = registers[member.first_bit / kWordBits] << above;
  const unsigned unused_bits = kWordBits - member.bit_count;
  if (!member.type.is_signed) return shifted >> unused_bits;
  return static_cast<uint64_t>(static_cast<int64_t>(shifted) >> unused_bits);
}

bool is_within(const Member& member) {
  return is_readable(member.type) && member.first_bit < 2 * kWordBits && member.bit_count > 0 &&
         member.first_bit % kWordBits + member.bit_count <= kWordBits;
}

std::string text_of(const Argument&, std::floating_point auto number) {
  return fmt::format("{}", number);
}

std::string text_of(const Argument& argument, std::integral auto number) {
  using Kind = Argument::Kind;
  switch (argument.kind) {
    case Kind::boolean: return number ? "true" : "false";
    case Kind::character:
      if (number >= ' ' && number <= '~') return fmt::format("'{}'", static_cast<char>(number));
      break;
    case Kind::pointer:
    case Kind::text: return fmt::format("{:#x}", static_cast<uint64_t>(number));
    case Kind::enumeration:
      if (const auto* one = find_enumerator(argument, static_cast<int64_t>(number)))
        return one->name;
      break;
    default: break;
  }
  return fmt::format("{}", number);
}

}  // namespace

std::string value_text(const Argument& argument, const Value& value) {
  if (!value) return "?";
  return std::visit([&](auto number) { return text_of(argument, number); },
                    number_of(argument, *value));
}

std::string members_text(const Members& members, const ResultRegisters& registers) {
  std::string text;
  for (const Member& member : members) {
    if (text.size() > kMostMemberBytes) break;
    const Value value = is_within(member) ? Value(bits_of(member, registers)) : std::nullopt;
    text += (text.empty() ? "" : ", ") + member.name + " = " + value_text(member.type, value);
  }
  if (text.size() > kMostMemberBytes) text = text.substr(0, kMostMemberBytes) + "...";
  return "{" + text + "}";
}

}  // namespace tracectl
