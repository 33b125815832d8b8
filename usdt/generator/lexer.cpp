// SPDX-License-Identifier: BSD-2-Clause
#include "usdt/generator/lexer.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>

namespace tracectl::generator {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_word(char c) { return is_word_start(c) || is_digit(c); }
bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v'; }

size_t skip_blanks(std::string_view text, size_t at) {
  while (at < text.size() && is_blank(text[at])) at++;
  return at;
}

size_t end_of_word(std::string_view text, size_t at) {
  while (at < text.size() && is_word(text[at])) at++;
  return at;
}

// The end of the line; a backslash at its end continues it.
size_t end_of_line(std::string_view text, size_t at) {
  for (;;) {
    at = std::min(text.find('\n', at), text.size());
    const bool goes_on = at > 0 && at < text.size() && text[at - 1] == '\\';
    if (!goes_on) return at;
    at++;
  }
}

// The end of a line that begins with #. A comment that begins in it and ends in another line
// belongs to it.
size_t end_of_directive(std::string_view text, size_t at) {
  size_t end = end_of_line(text, at);
  for (;;) {
    const size_t open = text.find("/*", at);
    if (open >= end) return end;
    const size_t close = text.find("*/", open + 2);
    if (close == text.npos) return end;
    at = close + 2;
    if (at > end) end = end_of_line(text, at);
  }
}

constexpr size_t kMostNested = 64;  // macros within macros

class Lexer {
 public:
  Lexer(std::string_view text, std::string path) : text_(text) {
    source_.text = text;
    source_.files.push_back({std::move(path)});
  }

  Result<Source> run() {
    while (at_ < text_.size()) {
      auto taken = take_one();
      if (!taken) return taken.error();
      if (source_.tokens.size() > kMostTokens)
        return error_at(
            source_, place(),
            "the file has too many words; " + std::to_string(kMostTokens) + " are taken");
    }
    source_.tokens.push_back({Token::Kind::end, {}, place()});
    return std::move(source_);
  }

 private:
  Place place() const { return {at_, file_, line_}; }

  // Skips text, and counts its lines.
  void go_to(size_t end) {
    for (; at_ < end; at_++)
      if (text_[at_] == '\n') line_++, is_line_start_ = true;
  }

  Status take_one() {
    const char c = text_[at_];
    if (c == '\n' || is_blank(c)) return go_to(at_ + 1), ok();
    if (text_.substr(at_, 2) == "/*") return skip_comment();
    if (text_.substr(at_, 2) == "//") return go_to(end_of_line(text_, at_)), ok();
    if (c == '#' && is_line_start_) return take_directive();
    is_line_start_ = false;
    if (c == '"' || c == '\'') return take_literal(c);
    auto token = lex_plain(text_, at_, place());
    if (!token) return error_at(source_, place(), "this character has no meaning here");
    at_ += token->text.size();
    return replace(*token);
  }

  // A word, a number or a sign.
  static std::optional<Token> lex_plain(std::string_view text, size_t at, Place place) {
    const char c = text[at];
    if (is_word_start(c))
      return Token{Token::Kind::word, text.substr(at, end_of_word(text, at) - at), place};
    if (is_digit(c))
      return Token{Token::Kind::literal, text.substr(at, end_of_word(text, at) - at), place};
    if (c <= ' ' || c > '~') return std::nullopt;
    return Token{Token::Kind::sign, text.substr(at, 1), place};
  }

  Status skip_comment() {
    const size_t end = text_.find("*/", at_ + 2);
    if (end == text_.npos) return error_at(source_, place(), "this comment is never closed");
    return go_to(end + 2), ok();
  }

  Status take_literal(char quote) {
    size_t end = at_ + 1;
    while (end < text_.size() && text_[end] != quote && text_[end] != '\n')
      end += text_[end] == '\\' ? 2 : 1;
    if (end >= text_.size() || text_[end] != quote)
      return error_at(source_, place(), "this quote is never closed");
    source_.tokens.push_back({Token::Kind::literal, text_.substr(at_, end + 1 - at_), place()});
    go_to(end + 1);
    return ok();
  }

  // ---- lines that begin with # ----

  Status take_directive() {
    const Place start = place();
    const size_t end = end_of_directive(text_, at_);
    std::string_view rest = text_.substr(at_ + 1, end - at_ - 1);
    rest.remove_prefix(skip_blanks(rest, 0));
    const std::string_view name = rest.substr(0, end_of_word(rest, 0));
    rest.remove_prefix(name.size());
    go_to(end);
    if (name == "define") return define(rest), ok();
    if (name == "undef") return defines_.erase(first_word(rest)), ok();
    if (name == "line") return follow_line(rest), ok();
    if (!name.empty() && is_digit(name[0]))
      return follow_line({name.data(), name.size() + rest.size()}), ok();
    if (is_conditional(name))
      return error_at(source_, start,
                      "#" + std::string{name} + " is for the C preprocessor; -C has it run first");
    return ok();
  }

  static bool is_conditional(std::string_view name) {
    for (std::string_view other : {"if", "ifdef", "ifndef", "else", "elif", "endif"})
      if (name == other) return true;
    return false;
  }

  static std::string_view first_word(std::string_view text) {
    const size_t start = skip_blanks(text, 0);
    return text.substr(start, end_of_word(text, start) - start);
  }

  // Macros with arguments are ignored, because no provider file uses one for a type.
  void define(std::string_view rest) {
    const std::string_view name = first_word(rest);
    if (name.empty()) return;
    const size_t end = static_cast<size_t>(name.data() + name.size() - rest.data());
    if (end < rest.size() && rest[end] == '(') return;
    defines_[name] = words_of(rest.substr(end));
  }

  std::vector<Token> words_of(std::string_view text) const {
    std::vector<Token> words;
    for (size_t at = 0; at < text.size();) {
      if (text.substr(at, 2) == "//") break;
      if (text.substr(at, 2) == "/*") {
        at = std::min(text.find("*/", at), text.size() - 2) + 2;
        continue;
      }
      auto token = lex_plain(text, at, {});
      at += token ? token->text.size() : 1;
      if (token && !token->is("\\")) words.push_back(*token);
    }
    return words;
  }

  // Like in the C preprocessor, no word is replaced within its own replacement.
  Status replace(const Token& token) {
    const auto found = token.kind == Token::Kind::word ? defines_.find(token.text) : defines_.end();
    if (found == defines_.end() || !replacing_.insert(token.text).second)
      return source_.tokens.push_back(token), ok();
    if (replacing_.size() > kMostNested)
      return error_at(source_, token.place, "what this is defined as is nested too deep");
    if (source_.tokens.size() > kMostTokens)
      return error_at(source_, token.place, "what this is defined as grows too large");
    for (Token word : found->second) {
      word.place = token.place;
      if (auto replaced = replace(word); !replaced) return replaced;
    }
    replacing_.erase(token.text);
    return ok();
  }

  // `rest` is: 12 "file.h" FLAGS. The flag 3 means a system header.
  void follow_line(std::string_view rest) {
    rest.remove_prefix(skip_blanks(rest, 0));
    uint32_t line = 0;
    const auto read = std::from_chars(rest.data(), rest.data() + rest.size(), line);
    if (read.ec != std::errc{}) return;
    rest.remove_prefix(static_cast<size_t>(read.ptr - rest.data()));
    const size_t open = rest.find('"');
    const size_t close = rest.rfind('"');
    if (open < close && close != rest.npos)
      file_ = file_named(rest.substr(open + 1, close - open - 1),
                         rest.substr(close).find('3') != rest.npos);
    line_ = line - 1;  // the next newline adds one
  }

  uint32_t file_named(std::string_view path, bool is_system) {
    for (uint32_t i = 0; i < source_.files.size(); i++)
      if (source_.files[i].path == path) return i;
    source_.files.push_back({std::string{path}, is_system});
    return static_cast<uint32_t>(source_.files.size() - 1);
  }

  std::string_view text_;
  Source source_;
  size_t at_ = 0;
  uint32_t line_ = 1;
  uint32_t file_ = 0;
  bool is_line_start_ = true;
  std::map<std::string_view, std::vector<Token>> defines_;
  std::set<std::string_view> replacing_;
};

}  // namespace

Result<Source> lex(std::string_view text, std::string path) {
  if (text.size() > kMostFileBytes)
    return Error{Code::invalid, path + ": error: the file is too large; 16 MiB are taken"};
  return Lexer{text, std::move(path)}.run();
}

Error error_at(const Source& source, const Place& place, const std::string& message) {
  const size_t start = place.at == 0 ? 0 : source.text.rfind('\n', place.at - 1) + 1;
  const size_t end = std::min(source.text.find('\n', place.at), source.text.size());
  const size_t column = place.at - start;
  return {Code::invalid,
          source.files[place.file].path + ":" + std::to_string(place.line) + ":" +
              std::to_string(column + 1) + ": error: " + message,
          {},
          Spot{std::string{source.text.substr(start, end - start)}, column}};
}

}  // namespace tracectl::generator
