// SPDX-License-Identifier: BSD-2-Clause
//
// The common parts of the encodings of questions and answers.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>

#include "daemon/base/result.h"
#include "daemon/recording/bytes.h"

namespace tracectl::wire {

using recording::ByteReader;
using recording::ByteWriter;

// False if there is no such enumerator. `last` has the greatest number.
template <class Enum> bool read_enum(ByteReader& from, Enum& value, Enum last) {
  const auto number = from.fixed<uint8_t>();
  value = static_cast<Enum>(number);
  return !from.failed() && number <= static_cast<uint8_t>(last);
}

// Empty, and failed, if it is longer than `most`.
inline std::string read_text(ByteReader& from, size_t most) {
  const uint64_t size = from.varint();
  return std::string(from.take(size <= most ? size : UINT64_MAX));
}

template <std::unsigned_integral T> void write_optional(ByteWriter& to, std::optional<T> value) {
  to.fixed(static_cast<uint8_t>(value.has_value()));
  if (value) to.fixed(*value);
}

template <std::unsigned_integral T> std::optional<T> read_optional(ByteReader& from) {
  if (!from.fixed<uint8_t>()) return std::nullopt;
  return from.fixed<T>();
}

// In hex; failed if it is not a build id.
std::string read_build_id(ByteReader& from);

std::optional<Error> read_error(ByteReader& from);
Error untrue();

}  // namespace tracectl::wire
