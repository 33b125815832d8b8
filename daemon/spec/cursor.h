// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "daemon/base/result.h"
#include "daemon/spec/lexer.h"

namespace tracectl {

inline constexpr uint64_t kLeastMagnitude = uint64_t{1} << 63;  // of the least signed integer

// Walks through the tokens of a text. The last one is `end`, and the cursor never passes it.
class Cursor {
 public:
  Cursor(std::string_view text, std::vector<Token> tokens)
      : text_(text), tokens_(std::move(tokens)) {}

  std::string_view text() const { return text_; }
  const Token& here() const { return tokens_[at_]; }
  // The token that many tokens ahead.
  const Token& next(size_t tokens = 1) const {
    return tokens_[std::min(at_ + tokens, tokens_.size() - 1)];
  }
  bool at(Token::Kind kind) const { return here().kind == kind; }
  bool at_word(std::string_view word) const { return at(Token::Kind::word) && here().text == word; }

  // Returns the token and moves past it.
  Token take();
  bool take_if(Token::Kind kind);
  bool take_word(std::string_view word);

  // `what` names what is expected here: "a comma and the most bytes".
  Status expect(Token::Kind kind, const std::string& what);
  // Also a time, `10us`, which is its nanoseconds.
  Result<uint64_t> integer(const std::string& what);
  Result<int64_t> signed_integer(const std::string& what);
  // The text between the quotes, at most `most_bytes` long.
  Result<std::string> quoted(const std::string& what, size_t most_bytes);

  Error error(const Token& token, std::string message) const;
  Error error_here(std::string message) const { return error(here(), std::move(message)); }
  // The message `"x" is not expected here`, or what is missing at the end.
  Error unexpected(const std::string& what) const;

 private:
  std::string_view text_;
  std::vector<Token> tokens_;
  size_t at_ = 0;
};

}  // namespace tracectl
