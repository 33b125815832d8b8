// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>

namespace tracectl::ui {

struct Key {
  enum class Kind : uint8_t {
    character,
    up,
    down,
    left,
    right,
    page_up,
    page_down,
    home,
    end,
    enter,
    escape,
    tab,
    backspace
  };
  Kind kind = Kind::character;
  char32_t character = 0;  // control characters, too: 1 is ^A

  constexpr Key(Kind of) : kind(of) {}
  constexpr Key(char32_t typed) : character(typed) {}
  constexpr bool is(char32_t typed) const { return kind == Kind::character && character == typed; }
};

inline constexpr char32_t control(char letter) { return static_cast<char32_t>(letter & 0x1f); }

}  // namespace tracectl::ui
