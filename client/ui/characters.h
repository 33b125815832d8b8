// SPDX-License-Identifier: BSD-2-Clause
//
// Text in UTF-8, of which some comes from other users' processes.
#pragma once

#include <string>
#include <string_view>

namespace tracectl::ui {

void append_character(std::string& text, char32_t character);
// A byte that belongs to no character, and a control character, which a terminal would obey, becomes `?`.
std::u32string characters_of(std::string_view text);

}  // namespace tracectl::ui
