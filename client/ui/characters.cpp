// SPDX-License-Identifier: BSD-2-Clause
#include "client/ui/characters.h"

#include <cstdint>

namespace tracectl::ui {
namespace {

constexpr char32_t kUnknown = U'?';

// How many bytes follow the first one of a character; none: it begins no character.
int following_bytes(unsigned char first) {
  if (first < 0x80) return 0;
  if (first >= 0xc2 && first < 0xe0) return 1;
  if (first >= 0xe0 && first < 0xf0) return 2;
  if (first >= 0xf0 && first < 0xf5) return 3;
  return -1;
}

bool is_shown(char32_t character) {
  const bool is_control = character < 0x20 || (character >= 0x7f && character < 0xa0);
  const bool is_surrogate = character >= 0xd800 && character < 0xe000;
  return !is_control && !is_surrogate && character <= 0x10ffff;
}

// Takes a character from the beginning of the text, which is not empty.
char32_t take_character(std::string_view& text) {
  const auto first = static_cast<unsigned char>(text[0]);
  const int more = following_bytes(first);
  text.remove_prefix(1);
  if (more < 0 || text.size() < static_cast<size_t>(more)) return kUnknown;
  char32_t character = more == 0 ? first : first & (0x3fu >> more);
  for (int i = 0; i < more; ++i) {
    const auto byte = static_cast<unsigned char>(text[static_cast<size_t>(i)]);
    if ((byte & 0xc0) != 0x80) return kUnknown;
    character = (character << 6) | (byte & 0x3f);
  }
  text.remove_prefix(static_cast<size_t>(more));
  return is_shown(character) ? character : kUnknown;
}

}  // namespace

void append_character(std::string& text, char32_t character) {
  const auto byte = [&](uint32_t bits) { text += static_cast<char>(bits); };
  const auto rest = [&](int shift) { byte(0x80 | ((character >> shift) & 0x3f)); };
  if (character < 0x80) return byte(character);
  if (character < 0x800) return byte(0xc0 | (character >> 6)), rest(0);
  if (character < 0x10000) return byte(0xe0 | (character >> 12)), rest(6), rest(0);
  byte(0xf0 | (character >> 18)), rest(12), rest(6), rest(0);
}

std::u32string characters_of(std::string_view text) {
  std::u32string characters;
  while (!text.empty()) characters += take_character(text);
  return characters;
}

}  // namespace tracectl::ui
