// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>

#include "daemon/model/event.h"

namespace tracectl {

// A value as the program's source would write it: -5, true, 'x', GREEN, 0x7ffe0010. "?" if it could not be
// read.
std::string value_text(const Argument& argument, const Value& value);

}  // namespace tracectl
