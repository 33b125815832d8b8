// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/spec/lexer.h"

#include <string>

namespace tracectl {
namespace {

constexpr size_t kMaxBytes = 4096;

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n'; }

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

bool is_word(char c) { return is_letter(c) || (c >= '0' && c <= '9'); }

size_t end_of_word(std::string_view text, size_t at) {
  while (at < text.size() && is_word(text[at])) at++;
  return at;
}

std::string quoted(char c) {
  bool visible = c > 0x20 && c < 0x7f;
  return visible ? std::string{"\""} + c + "\"" : "this character";
}

Result<Token> lex_one(std::string_view text, size_t at) {
  if (text[at] == ',') return Token{Token::Kind::comma, text.substr(at, 1), at};
  if (!is_letter(text[at])) return error_at(text, at, quoted(text[at]) + " has no meaning here");
  return Token{Token::Kind::word, text.substr(at, end_of_word(text, at) - at), at};
}

}  // namespace

Error error_at(std::string_view text, size_t column, std::string message) {
  return {Code::invalid, std::move(message), {}, Spot{std::string{text}, column}};
}

Result<std::vector<Token>> lex(std::string_view text) {
  if (text.size() > kMaxBytes) {
    return Error{Code::invalid, "a spec may have " + std::to_string(kMaxBytes) + " bytes at most"};
  }
  std::vector<Token> tokens;
  for (size_t at = 0; at < text.size();) {
    if (is_space(text[at])) {
      at++;
      continue;
    }
    auto token = lex_one(text, at);
    if (!token) return token.error();
    at += token->text.size();
    tokens.push_back(*token);
  }
  tokens.push_back({Token::Kind::end, {}, text.size()});
  return tokens;
}

}  // namespace tracectl
