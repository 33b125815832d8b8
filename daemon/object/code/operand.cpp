// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/object/code/operand.h"

#include <charconv>

namespace tracectl {
namespace {

bool is_of_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.' || c == '$' || c == '@';
}

}  // namespace

bool OperandText::skip(char c) {
  if (peek() != c) return false;
  text_.remove_prefix(1);
  return true;
}

std::optional<int64_t> OperandText::number() {
  std::string_view rest = text_;
  const bool negative = !rest.empty() && rest.front() == '-';
  if (!rest.empty() && (rest.front() == '-' || rest.front() == '+')) rest.remove_prefix(1);
  const bool hex = rest.size() > 2 && rest[0] == '0' && (rest[1] == 'x' || rest[1] == 'X');
  if (hex) rest.remove_prefix(2);
  uint64_t value = 0;
  const auto [end, err] =
      std::from_chars(rest.data(), rest.data() + rest.size(), value, hex ? 16 : 10);
  if (err != std::errc{}) return std::nullopt;
  text_ = rest.substr(static_cast<size_t>(end - rest.data()));
  return static_cast<int64_t>(negative ? uint64_t{0} - value : value);
}

std::string_view OperandText::word() {
  size_t length = 0;
  while (length < text_.size() && is_of_word(text_[length])) ++length;
  const std::string_view word = text_.substr(0, length);
  text_.remove_prefix(length);
  return word;
}

}  // namespace tracectl
