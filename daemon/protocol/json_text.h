// SPDX-License-Identifier: BSD-2-Clause
//
// Writes JSON without nlohmann/json, for the stream of events.
#pragma once

#include <charconv>
#include <concepts>
#include <string>
#include <string_view>

namespace tracectl::protocol {

// Appends the text with quotes. Each byte that is not part of valid UTF-8 becomes U+FFFD.
void append_string(std::string& out, std::string_view text);

// The text with U+FFFD for each byte that is not part of valid UTF-8.
std::string valid_utf8(std::string_view text);

// Appends the shortest text that reads back as the same value. JSON has no numbers for three values:
// "NaN", "Infinity" and "-Infinity" are strings.
void append_float(std::string& out, std::floating_point auto value);

template <std::integral T> void append_integer(std::string& out, T value) {
  char digits[24];
  auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
  out.append(digits, end);
}

}  // namespace tracectl::protocol
