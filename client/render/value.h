// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>

#include "daemon/model/event.h"

namespace tracectl {

// A value as the source of the program would have it: -5, true, 'x', GREEN, 0x7ffe0010. "?" where
// it could not be read.
std::string value_text(const Argument& argument, const Value& value);

}  // namespace tracectl
