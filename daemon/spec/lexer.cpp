// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/spec/lexer.h"

#include <string>

#include "daemon/model/expr.h"
#include "daemon/model/field_path.h"

namespace tracectl {
namespace {

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n'; }

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

bool is_word(char c) { return is_letter(c) || is_digit(c); }

// `arg.size` is one word, and so are `args.size`, `var.size` and the path of a field: `arg.p->name`, `arg0[3].x`,
// `retval->y`.
size_t end_of_word(std::string_view text, size_t at) {
  const size_t start = at;
  while (at < text.size() && is_word(text[at])) at++;
  const std::string_view word = text.substr(start, at - start);
  const bool has_names = word == "arg" || word == "args" || word == "var";
  const bool is_named =
      has_names && at + 1 < text.size() && text[at] == '.' && is_letter(text[at + 1]);
  if (is_named)
    for (at++; at < text.size() && is_word(text[at]);) at++;
  return is_named || end_of_path_base(word) ? end_of_steps(text, at) : at;
}

// After the closing quote, or npos.
size_t end_of_text(std::string_view text, size_t at) {
  for (at++; at < text.size(); at++) {
    if (text[at] == '"') return at + 1;
    if (text[at] == '\\') at++;
  }
  return text.npos;
}

// After the longest operator at `at`, or `at`.
size_t end_of_operator(std::string_view text, size_t at) {
  for (size_t length : {2, 1}) {
    std::string_view op = text.substr(at, length);
    if (op.size() == length && (binary_operator(op) || unary_operator(op))) return at + length;
  }
  return at;
}

std::string quoted(char c) {
  bool visible = c > 0x20 && c < 0x7f;
  return visible ? std::string{"\""} + c + "\"" : "this character";
}

Error strange(std::string_view text, size_t at) {
  std::string message = quoted(text[at]) + " has no meaning here";
  if (text[at] == '=') message += "; == compares";
  if (text[at] == '\'') message += "; strings are in double quotes";
  if (text[at] == '$') message += "; arguments are arg0, arg1 and so on, or arg.NAME";
  if (text[at] == '@') message += "; results have no names, keys follow by: count by pid";
  if (text[at] == '[') message += "; the index of an array is a number: arg.list[3]";
  return error_at(text, at, std::move(message));
}

// A path with a cast, or with parentheses of its own, is one word, too.
Result<Token> lex_parenthesis(std::string_view text, size_t at) {
  const size_t end = end_of_cast_path(text, at);
  if (end > at) return Token{Token::Kind::word, text.substr(at, end - at), at};
  if (is_cast(text, at))
    return error_at(text, at,
                    "a cast is one of an argument, retval or a field: (struct conn *)arg0");
  return Token{Token::Kind::open, text.substr(at, 1), at};
}

Result<Token> lex_one(std::string_view text, size_t at) {
  auto token = [&](Token::Kind kind, size_t end) {
    return Token{kind, text.substr(at, end - at), at};
  };
  if (is_digit(text[at])) return token(Token::Kind::integer, end_of_word(text, at));
  if (is_letter(text[at])) return token(Token::Kind::word, end_of_word(text, at));
  if (text[at] == ',') return token(Token::Kind::comma, at + 1);
  if (text[at] == '(') return lex_parenthesis(text, at);
  if (text[at] == ')') return token(Token::Kind::close, at + 1);
  if (text[at] == '"') {
    size_t end = end_of_text(text, at);
    if (end == text.npos) return error_at(text, at, "this quote is never closed");
    return token(Token::Kind::text, end);
  }
  size_t end = end_of_operator(text, at);
  if (end == at) return strange(text, at);
  return token(Token::Kind::op, end);
}

}  // namespace

Error error_at(std::string_view text, size_t column, std::string message) {
  return {Code::invalid, std::move(message), {}, Spot{std::string{text}, column}};
}

Result<std::vector<Token>> lex(std::string_view text) {
  if (text.size() > kMostSpecBytes) {
    return Error{Code::invalid,
                 "this text may have " + std::to_string(kMostSpecBytes) + " bytes at most"};
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
