// SPDX-License-Identifier: BSD-2-Clause
//
// Members that can have different types. The rules for messages: daemon/protocol/messages.h.
#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "daemon/base/fields.h"

namespace tracectl::protocol {

// 64 bits, signed or unsigned.
using Integer = std::variant<int64_t, uint64_t>;

// A key of a row: null if it could not be read.
using Key = std::variant<std::monostate, int64_t, uint64_t, std::string>;

// An argument's value: null if it could not be read; a string also if JSON has no number for it ("NaN",
// "Infinity", "-Infinity").
using Scalar = std::variant<std::monostate, int64_t, uint64_t, double, std::string>;

using tracectl::Named;
inline constexpr size_t kMaxNamed = 16;  // members of a Named that is read

}  // namespace tracectl::protocol
