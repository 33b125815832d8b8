// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <string>

#include "daemon/model/event.h"

namespace tracectl {

// The low bytes as the type has them: extended by the sign, if it has one.
int64_t number_of(const Argument& argument, uint64_t bits);

// A value as the source of the program would have it: -5, true, 'x', GREEN, 0x7ffe0010. "?" where
// it could not be read.
std::string value_text(const Argument& argument, const Value& value);

}  // namespace tracectl
