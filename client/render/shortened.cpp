// SPDX-License-Identifier: BSD-2-Clause
#include "client/render/shortened.h"

#include <algorithm>
#include <optional>

namespace tracectl {
namespace {

constexpr std::string_view kLeftOut = "\u2026";  // one character

bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

// Where a list of template arguments begins, at or after `from`: not in `operator<`.
size_t template_after(const std::string& text, size_t from) {
  for (size_t open = text.find('<', from); open != text.npos; open = text.find('<', open + 1))
    if (open > 0 && text[open - 1] != '<' &&
        !std::string_view(text).substr(0, open).ends_with("operator"))
      return open;
  return text.npos;
}

// The index of the `>` that ends a list of template arguments.
std::optional<size_t> end_of_template(const std::string& text, size_t open) {
  int depth = 0;
  for (size_t at = open; at < text.size(); ++at) {
    if (text[at] == '<') ++depth;
    if (text[at] == '>' && text[at - 1] != '-' && --depth == 0) return at;
  }
  return std::nullopt;
}

std::string without_template_arguments(std::string text, size_t width) {
  for (size_t open = template_after(text, 0); open != text.npos && width_of(text) > width;) {
    const auto end = end_of_template(text, open);
    if (!end) break;
    if (*end - open > kLeftOut.size()) text.replace(open + 1, *end - open - 1, kLeftOut);
    open = template_after(text, open + 1);
  }
  return text;
}

// The byte at which the character with this number begins.
size_t byte_of(const std::string& text, size_t character) {
  size_t at = 0;
  for (; at < text.size(); ++at)
    if (!continues_character(text[at]) && character-- == 0) break;
  return at;
}

}  // namespace

size_t width_of(std::string_view text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return !continues_character(c); }));
}

std::string shortened(const std::string& text, size_t width) {
  if (width_of(text) <= width) return text;
  const std::string plain = without_template_arguments(text, width);
  const size_t characters = width_of(plain);
  if (characters <= width) return plain;
  const size_t kept_at_end = (width - 1) / 2, kept_at_start = width - 1 - kept_at_end;
  return plain.substr(0, byte_of(plain, kept_at_start)) + std::string(kLeftOut) +
         plain.substr(byte_of(plain, characters - kept_at_end));
}

}  // namespace tracectl
