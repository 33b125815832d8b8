// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tracectl::recording {

// By zstd. Empty where that does not make it smaller.
std::string compressed(std::string_view plain);

// Nothing where these bytes are not `plain_bytes` bytes compressed.
std::optional<std::string> decompressed(std::string_view stored, size_t plain_bytes);

}  // namespace tracectl::recording
