// SPDX-License-Identifier: BSD-2-Clause
//
// The values of an event as numbers and texts, for formats that have types.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "daemon/model/event.h"

namespace tracectl {

// The type of an argument; an unsigned number if the event has no type for it.
const Argument& type_of_argument(const Event& event, size_t index);
// "size"; "arg2" for an argument without a name.
std::string name_of_argument(const Event& event, size_t index);

// monostate: it could not be read.
using FieldValue = std::variant<std::monostate, uint64_t, int64_t, double, std::string_view>;
// Borrows the event's strings.
FieldValue argument_value(const Event& event, size_t index);
// The result of the call; monostate also if the event has none.
FieldValue result_value(const Event& event);

// Empty if the value could not be read; text is not quoted.
std::string plain_text(const FieldValue& value);

// One frame per line, the innermost first.
std::string stack_lines(const Stack& stack);

}  // namespace tracectl
