// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "daemon/base/result.h"

namespace tracectl {

constexpr size_t kMostSpecBytes = 4096;

struct Token {
  enum class Kind { word, integer, text, op, comma, open, close, end };

  Kind kind = Kind::end;
  std::string_view text;  // within the text that was lexed; includes the quotes of a text
  size_t column = 0;
};

// The tokens of `text`, the last one `end`; never empty.
Result<std::vector<Token>> lex(std::string_view text);

// An error in `text` at `column`.
Error error_at(std::string_view text, size_t column, std::string message);

}  // namespace tracectl
