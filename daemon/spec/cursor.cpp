// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/spec/cursor.h"

#include <charconv>
#include <system_error>

namespace tracectl {
namespace {

// One character of a quoted text: its end, or its error.
struct Unescaped {
  char value = 0;
  size_t length = 1;
  const char* wrong = nullptr;
};

Unescaped unescape_hex(std::string_view digits) {
  unsigned value = 0;
  const char* end = digits.data() + digits.size();
  auto [behind, failed] = std::from_chars(digits.data(), end, value, 16);
  if (digits.size() != 2 || failed != std::errc{} || behind != end)
    return {.wrong = "\\x takes two hex digits"};
  return {.value = static_cast<char>(value), .length = 4};
}

Unescaped unescape(std::string_view text) {
  if (text[0] != '\\') return {.value = text[0]};
  switch (text[1]) {
    case '"':
    case '\\': return {.value = text[1], .length = 2};
    case 'n': return {.value = '\n', .length = 2};
    case 't': return {.value = '\t', .length = 2};
    case 'x': return unescape_hex(text.substr(2, 2));
    default: return {.wrong = "behind a \\ stands one of \" \\ n t xHH"};
  }
}

// Nanoseconds in a unit of time; 0: it is none.
uint64_t nanoseconds_in(std::string_view unit) {
  if (unit == "ns") return 1;
  if (unit == "us") return 1'000;
  if (unit == "ms") return 1'000'000;
  return unit == "s" ? 1'000'000'000 : 0;
}

// What is written here for a word of other languages.
std::string remedy_for(const Token& token) {
  if (token.text == "and") return "; && is and";
  if (token.text == "or") return "; || is or";
  if (token.text == "not") return "; ! is not";
  if (token.text == "/") return "; a condition stands without slashes around it";
  return {};
}

}  // namespace

Token Cursor::take() {
  Token token = here();
  if (!at(Token::Kind::end)) at_++;
  return token;
}

bool Cursor::take_if(Token::Kind kind) {
  bool is = at(kind);
  if (is) take();
  return is;
}

bool Cursor::take_word(std::string_view word) {
  bool is = at_word(word);
  if (is) take();
  return is;
}

Status Cursor::expect(Token::Kind kind, const std::string& what) {
  if (!take_if(kind)) return unexpected(what);
  return ok();
}

Result<uint64_t> Cursor::integer(const std::string& what) {
  if (!at(Token::Kind::integer)) return unexpected(what);
  const Token token = take();
  std::string_view digits = token.text;
  bool hex = digits.starts_with("0x") || digits.starts_with("0X");
  if (hex) digits.remove_prefix(2);
  if (!hex && digits.size() > 1 && digits[0] == '0')
    return error(token, "an integer does not begin with 0; hex digits stand behind 0x");
  uint64_t value = 0;
  const char* end = digits.data() + digits.size();
  auto [behind, failed] = std::from_chars(digits.data(), end, value, hex ? 16 : 10);
  const uint64_t factor = behind == end || hex ? 1 : nanoseconds_in({behind, end});
  if (failed == std::errc::result_out_of_range || (factor && value > UINT64_MAX / factor))
    return error(token, "an integer has 64 bits at most");
  if (failed != std::errc{} || factor == 0 || (hex && behind != end))
    return error(
        token, "\"" + std::string{token.text} + "\" is no integer, and no time in ns, us, ms or s");
  return value * factor;
}

Result<int64_t> Cursor::signed_integer(const std::string& what) {
  const Token first = here();
  bool negative = at(Token::Kind::op) && here().text == "-";
  if (negative) take();
  auto magnitude = integer(what);
  if (!magnitude) return magnitude.error();
  if (*magnitude > kLeastMagnitude - !negative)
    return error(first, "this is beyond 64 bits with a sign");
  return static_cast<int64_t>(negative ? -*magnitude : *magnitude);
}

Result<std::string> Cursor::quoted(const std::string& what, size_t most_bytes) {
  if (!at(Token::Kind::text)) return unexpected(what);
  const Token token = take();
  std::string value;
  for (size_t at = 1; at + 1 < token.text.size();) {
    Unescaped c = unescape(token.text.substr(at, token.text.size() - 1 - at));
    if (!c.wrong && c.value == 0) c.wrong = "a text has no byte 0: there it ends";
    if (c.wrong) return error_at(text_, token.column + at, c.wrong);
    value += c.value;
    at += c.length;
  }
  if (value.size() > most_bytes)
    return error(token, "this text may have " + std::to_string(most_bytes) + " bytes at most");
  return value;
}

Error Cursor::error(const Token& token, std::string message) const {
  return error_at(text_, token.column, std::move(message));
}

Error Cursor::unexpected(const std::string& what) const {
  if (at(Token::Kind::end)) return error_here(what + " is missing here");
  return error_here("\"" + std::string{here().text} + "\" is not expected here, but " + what +
                    remedy_for(here()));
}

}  // namespace tracectl
