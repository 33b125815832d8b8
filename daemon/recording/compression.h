// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tracectl::recording {

// Compresses by zstd. Empty if the result is not smaller.
std::string compressed(std::string_view plain);

// None if these bytes do not decompress to `plain_bytes` bytes.
std::optional<std::string> decompressed(std::string_view stored, size_t plain_bytes);

}  // namespace tracectl::recording
