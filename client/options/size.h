// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace tracectl {

// In bytes. `500K`, `64M`, `1G` in units of 1024, 1024^2 and 1024^3; a bare number is bytes.
std::optional<uint64_t> parse_size(const std::string& text);

// The error in the text as a size of at least `least_bytes`, or an empty string.
std::string check_size(const std::string& text, uint64_t least_bytes);

// For people: "4.5 KiB".
std::string size_text(uint64_t bytes);

}  // namespace tracectl
