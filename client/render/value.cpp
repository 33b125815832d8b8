// SPDX-License-Identifier: BSD-2-Clause
#include "client/render/value.h"

#include <fmt/format.h>

#include <bit>

namespace tracectl {
namespace {

std::string float_text(const Argument& argument, uint64_t bits) {
  if (argument.size_bytes == sizeof(float))
    return fmt::format("{}", std::bit_cast<float>(static_cast<uint32_t>(bits)));
  return fmt::format("{}", std::bit_cast<double>(bits));
}

std::string integer_text(const Argument& argument, int64_t number) {
  return argument.is_signed ? fmt::format("{}", number)
                            : fmt::format("{}", static_cast<uint64_t>(number));
}

std::string character_text(const Argument& argument, int64_t number) {
  const bool printable = number >= ' ' && number <= '~';
  return printable ? fmt::format("'{}'", static_cast<char>(number))
                   : integer_text(argument, number);
}

}  // namespace

int64_t number_of(const Argument& argument, uint64_t bits) {
  const unsigned unused_bits = 64 - 8u * argument.size_bytes;
  const uint64_t shifted = bits << unused_bits;
  return argument.is_signed ? static_cast<int64_t>(shifted) >> unused_bits
                            : static_cast<int64_t>(shifted >> unused_bits);
}

std::string value_text(const Argument& argument, const Value& value) {
  using Kind = Argument::Kind;
  if (!value) return "?";
  if (argument.is_float) return float_text(argument, *value);
  const int64_t number = number_of(argument, *value);
  switch (argument.kind) {
    case Kind::boolean: return number ? "true" : "false";
    case Kind::character: return character_text(argument, number);
    case Kind::pointer:
    case Kind::text: return fmt::format("{:#x}", static_cast<uint64_t>(number));
    case Kind::enumeration:
      if (const Enumerator* one = find_enumerator(argument, number)) return one->name;
      break;
    default: break;
  }
  return integer_text(argument, number);
}

}  // namespace tracectl
