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

// Of the event's argument; one it has no type for is an unsigned number.
const Argument& type_of_argument(const Event& event, size_t index);
// "size"; of an argument without a name "arg2".
std::string name_of_argument(const Event& event, size_t index);

// monostate where it could not be read.
using FieldValue = std::variant<std::monostate, uint64_t, int64_t, double, std::string_view>;
// Borrows the event's strings.
FieldValue argument_value(const Event& event, size_t index);
// What the call returned; monostate also where the event has nothing of it.
FieldValue result_value(const Event& event);

// Empty where it could not be read; text is not quoted.
std::string plain_text(const FieldValue& value);

// A frame a line, the innermost first.
std::string stack_lines(const Stack& stack);

}  // namespace tracectl
