// SPDX-License-Identifier: BSD-2-Clause
//
// Input: the argument string of a USDT note.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "daemon/object/arg_spec.h"

using namespace tracectl;

namespace {

void must(bool promise) {
  if (!promise) std::abort();
}

bool power_of_two_to_8(uint8_t value) {
  return value == 1 || value == 2 || value == 4 || value == 8;
}

void check(const Argument& argument) {
  using Place = Argument::Place;
  must(!argument.text.empty());
  must(argument.place == Place::unreadable || power_of_two_to_8(argument.size_bytes));
  must(argument.place != Place::in_register || argument.base <= Register::r15 ||
       argument.base == Register::rip);
  must(power_of_two_to_8(argument.scale));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  const auto symbol = [](std::string_view name) -> std::optional<uint64_t> {
    must(!name.empty());
    if (name.starts_with('c')) return UINT64_MAX;
    return std::nullopt;
  };
  const Arguments arguments = parse_arguments(text, symbol);
  must(arguments.size() <= kMostArguments);
  for (const Argument& argument : arguments) check(argument);
  return 0;
}
