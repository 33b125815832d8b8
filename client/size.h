// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace tracectl {

// Bytes. `500K`, `64M`, `1G`, of 1024, 1024^2 and 1024^3; a bare number is bytes.
std::optional<uint64_t> parse_size(const std::string& text);

// What is wrong with it as a size of so many bytes at least, or nothing.
std::string check_size(const std::string& text, uint64_t least_bytes);

// As people read it: "4.5 KiB".
std::string size_text(uint64_t bytes);

}  // namespace tracectl
