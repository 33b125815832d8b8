// SPDX-License-Identifier: BSD-2-Clause
//
// Members that are not always of one type. The rules of messages: daemon/protocol/messages.h.
#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "daemon/base/fields.h"

namespace tracectl::protocol {

// Of 64 bits, signed or not.
using Integer = std::variant<int64_t, uint64_t>;

// What a row is kept by: null where it could not be read.
using Key = std::variant<std::monostate, int64_t, uint64_t, std::string>;

// An argument's value: null where it could not be read; a string also where JSON has no number for
// it ("NaN", "Infinity", "-Infinity").
using Scalar = std::variant<std::monostate, int64_t, uint64_t, double, std::string>;

using tracectl::Named;
inline constexpr size_t kMaxNamed = 16;  // members of a Named that is read

}  // namespace tracectl::protocol
