// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "daemon/model/event.h"

namespace tracectl {

// A value as the program's source would write it: -5, true, 'x', GREEN, 0x7ffe0010. "?" if it could not be
// read.
std::string value_text(const Argument& argument, const Value& value);

// The registers of a function's result: kResult and kSecondResult.
using ResultRegisters = std::array<uint64_t, 2>;

// A struct in registers: {a = 1, b = 2}. "?" for a member that is in none of them; at most some
// 1,000 bytes, with "..." for the rest.
std::string members_text(const Members& members, const ResultRegisters& registers);

}  // namespace tracectl
