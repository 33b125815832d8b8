// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tracectl {

// The number of characters of a text in UTF-8.
size_t width_of(std::string_view text);

// The text in at most this many characters, of which there are at least 3: first without arguments of templates,
// then without its middle.
std::string shortened(const std::string& text, size_t width);

}  // namespace tracectl
