// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tracectl {

// The UTF-8 text that is encoded by RFC 3492, with an underscore as the delimiter, as in names of Rust. None for a text of
// more than 128 characters.
std::optional<std::string> decode_punycode(std::string_view encoded);

}  // namespace tracectl
