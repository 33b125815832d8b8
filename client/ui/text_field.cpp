// SPDX-License-Identifier: BSD-2-Clause
#include "client/ui/text_field.h"

#include "client/ui/characters.h"

namespace tracectl::ui {
namespace {

constexpr size_t kMostBytes = 1000;
constexpr char32_t kFirstPrintable = 0x20, kDelete = 0x7f;

void remove_last(std::string& text) {
  const auto continues = [](char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; };
  while (!text.empty() && continues(text.back())) text.pop_back();
  if (!text.empty()) text.pop_back();
}

}  // namespace

bool TextField::take(Key key) {
  if (key.kind == Key::Kind::backspace) return remove_last(text_), true;
  if (key.is(control('U'))) return text_.clear(), true;
  if (key.kind != Key::Kind::character) return false;
  if (key.character < kFirstPrintable || key.character == kDelete) return false;
  if (text_.size() < kMostBytes) append_character(text_, key.character);
  return true;
}

}  // namespace tracectl::ui
