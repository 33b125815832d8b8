// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <optional>
#include <string>

namespace tracectl {

// In seconds. `10s`, `500ms`, `20us`, `2m`; a bare number is seconds.
std::optional<double> parse_duration(const std::string& text);

// The error in the text, or an empty string.
std::string check_duration(const std::string& text);
// The same of the time between two tables: 10 ms to a day.
std::string check_interval(const std::string& text);

}  // namespace tracectl
