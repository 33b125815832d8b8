// SPDX-License-Identifier: BSD-2-Clause
#include "client/render/value.h"

#include <fmt/format.h>

#include <concepts>

#include "daemon/model/number.h"

namespace tracectl {
namespace {

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

}  // namespace tracectl
