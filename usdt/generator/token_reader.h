// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "usdt/generator/lexer.h"

namespace tracectl::generator {

// Walks over the tokens of a source. It never passes the last one, which is the end.
class TokenReader {
 public:
  explicit TokenReader(const Source& source) : source_(source) {}

  const Token& peek() const { return source_.tokens[at_]; }
  const Token& peek_behind() const {
    return source_.tokens[at_ + 1 < source_.tokens.size() ? at_ + 1 : at_];
  }
  bool is_at_end() const { return peek().kind == Token::Kind::end; }

  const Token& take() {
    const Token& token = peek();
    if (!is_at_end()) at_++;
    return token;
  }
  bool take_if(std::string_view text) {
    const bool is_it = peek().is(text);
    if (is_it) take();
    return is_it;
  }

  // `wanted` is what a message says: "a name", "\";\"".
  Status expect(std::string_view text, const std::string& wanted) {
    return take_if(text) ? ok() : Status{unexpected(wanted)};
  }
  Result<Token> expect_name(const std::string& wanted) {
    if (peek().kind != Token::Kind::word) return unexpected(wanted);
    return take();
  }

  // The error that something other than `wanted` was found.
  Error unexpected(const std::string& wanted) const {
    const std::string found =
        is_at_end() ? "the end of the file" : "\"" + std::string{peek().text} + "\"";
    return error("expected " + wanted + ", found " + found);
  }
  Error error(const std::string& message) const { return error_at(source_, peek().place, message); }
  Error error(const Token& at, const std::string& message) const {
    return error_at(source_, at.place, message);
  }

  // Skips the (...), [...] or {...} that begins here, with its contents.
  Status skip_nested();

  const Source::File& file() const { return source_.files[peek().place.file]; }
  bool is_in_included_file() const { return peek().place.file != 0; }

 private:
  const Source& source_;
  size_t at_ = 0;
};

}  // namespace tracectl::generator
