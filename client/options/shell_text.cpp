// SPDX-License-Identifier: BSD-2-Clause
#include "client/options/shell_text.h"

#include <algorithm>
#include <cctype>
#include <string_view>

namespace tracectl {
namespace {

bool is_plain(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) ||
         std::string_view("-_./:,=+@%").find(c) != std::string_view::npos;
}

std::string quoted(const std::string& word) {
  // zsh replaces a word that begins with = by the path of a program.
  if (!word.empty() && word.front() != '=' && std::all_of(word.begin(), word.end(), is_plain))
    return word;
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

}  // namespace

std::string shell_text(const Words& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + quoted(word);
  return text;
}

}  // namespace tracectl
