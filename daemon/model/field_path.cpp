// SPDX-License-Identifier: BSD-2-Clause
//
// Paths in the syntax of C:
//
//   unary   = "*" unary | "(" type ")" unary | postfix
//   postfix = ( base | "(" unary ")" ) { "->" name | "." name | "[" number "]" }
//   type    = [ "const" ] [ "struct" ] name { "*" }, with at least one "*"
#include "daemon/model/field_path.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <system_error>
#include <utility>

namespace tracectl {
namespace {

using PathStep = FieldPath::Step;

constexpr unsigned kDeepestPath = 32;  // parentheses and unary operators within each other
constexpr size_t kMostTypeNameBytes = 256;

bool is_number_char(char c) { return c >= '0' && c <= '9'; }

bool is_name_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

bool is_name_char(char c) { return is_name_start(c) || is_number_char(c); }

size_t end_of_name(std::string_view text, size_t at) {
  if (at >= text.size() || !is_name_start(text[at])) return at;
  while (at < text.size() && is_name_char(text[at])) at++;
  return at;
}

size_t end_of_digits(std::string_view text, size_t at) {
  while (at < text.size() && is_number_char(text[at])) at++;
  return at;
}

size_t end_of_spaces(std::string_view text, size_t at) {
  while (at < text.size() && text[at] == ' ') at++;
  return at;
}

// The length of the sign before a step's name.
size_t sign_bytes(PathStep::Kind kind) { return kind == PathStep::Kind::arrow ? 2 : 1; }

size_t end_of_step(std::string_view text, size_t at) {
  const std::string_view rest = text.substr(at);
  if (rest.starts_with('[')) {
    const size_t end = end_of_digits(text, at + 1);
    return end > at + 1 && text.substr(end).starts_with(']') ? end + 1 : at;
  }
  const size_t sign = rest.starts_with("->") ? 2 : rest.starts_with('.') ? 1 : 0;
  const size_t end = sign ? end_of_name(text, at + sign) : at;
  return sign && end > at + sign ? end : at;
}

Error path_error(std::string_view text, size_t column, std::string message) {
  return {Code::invalid, std::move(message), {}, Spot{std::string{text}, column}};
}

// ---- types ----

struct CastType {
  std::string name;  // without qualifiers
  uint64_t stars = 0;
  size_t end = 0;  // behind the closing parenthesis
};

// `<` ... `>` with what is between them, or the same place.
size_t end_of_template_arguments(std::string_view text, size_t at) {
  int open = 0;
  for (size_t end = at; end < text.size(); end++) {
    const char c = text[end];
    open += c == '<' ? 1 : c == '>' ? -1 : 0;
    if (open == 0) return c == '>' ? end + 1 : at;
    if (!is_name_char(c) && std::string_view("<>:, *&").find(c) == std::string_view::npos)
      return at;
  }
  return at;
}

// A name with all that C++ puts around it: `ns::Map<int, char *>::Entry`.
size_t end_of_qualified_name(std::string_view text, size_t at) {
  const size_t start = at;
  for (;;) {
    const size_t name = end_of_name(text, at);
    if (name == at) return start;
    at = end_of_template_arguments(text, name);
    if (!text.substr(at).starts_with("::")) return at;
    at += 2;
  }
}

bool is_qualifier(std::string_view word) {
  return word == "const" || word == "volatile" || word == "restrict";
}

// The type in parentheses that begins at `at`.
std::optional<CastType> cast_type_at(std::string_view text, size_t at) {
  if (!text.substr(at).starts_with('(')) return std::nullopt;
  CastType type;
  for (at = end_of_spaces(text, at + 1);; at = end_of_spaces(text, at)) {
    const size_t end = end_of_qualified_name(text, at);
    if (end == at) break;
    const std::string_view word = text.substr(at, end - at);
    if (!is_qualifier(word)) (type.name += type.name.empty() ? "" : " ") += word;
    at = end;
  }
  for (; text.substr(at).starts_with('*'); at = end_of_spaces(text, at + 1)) {
    type.stars++;
    const size_t word = end_of_spaces(text, at + 1), end = end_of_name(text, word);
    if (is_qualifier(text.substr(word, end - word))) at = end - 1;
  }
  const bool is_type = !type.name.empty() && type.name.size() <= kMostTypeNameBytes &&
                       type.stars > 0 && type.stars <= FieldPath::kMostSteps;
  if (!is_type || !text.substr(at).starts_with(')')) return std::nullopt;
  type.end = at + 1;
  return type;
}

// ---- paths ----

class PathReader {
 public:
  PathReader(std::string_view text, size_t at) : text_(text), at_(at) {}

  // False if there is no path. `end()` is then the place where it ends to be one.
  bool read() { return unary(); }

  size_t end() const { return at_; }
  bool has_base() const { return !path_.base.empty(); }
  const std::optional<Error>& error() const { return error_; }
  FieldPath& path() { return path_; }

 private:
  bool unary() {
    if (depth_ == kDeepestPath) return false;
    depth_++;
    const bool is_read = text_.substr(at_).starts_with('*') ? starred()
                         : cast_type_at(text_, at_)         ? casted()
                                                            : postfix();
    depth_--;
    return is_read;
  }

  bool starred() {
    const size_t column = path_.text.size();
    at_++;
    path_.text += '*';
    if (!unary()) return false;
    path_.steps.push_back({.kind = PathStep::Kind::index,
                           .column = column,
                           .operand_start = column + 1,
                           .operand_end = path_.text.size()});
    return true;
  }

  bool casted() {
    CastType type = *cast_type_at(text_, at_);
    const size_t column = path_.text.size();
    path_.text += '(' + type.name + ' ' + std::string(type.stars, '*') + ')';
    const size_t operand = path_.text.size();
    at_ = end_of_spaces(text_, type.end);
    if (!unary()) return false;
    path_.steps.push_back({PathStep::Kind::cast, std::move(type.name), type.stars, column, operand,
                           path_.text.size()});
    return true;
  }

  bool postfix() {
    const size_t start = path_.text.size();
    if (!(text_.substr(at_).starts_with('(') ? parenthesised() : base())) return false;
    for (size_t end = end_of_step(text_, at_); end > at_; end = end_of_step(text_, at_))
      if (!step(end, start)) return false;
    return true;
  }

  bool parenthesised() {
    at_ = end_of_spaces(text_, at_ + 1);
    path_.text += '(';
    if (!unary()) return false;
    at_ = end_of_spaces(text_, at_);
    if (!text_.substr(at_).starts_with(')')) return false;
    at_++;
    path_.text += ')';
    return true;
  }

  bool base() {
    const std::string_view rest = text_.substr(at_);
    const size_t more = rest.starts_with("args.") ? 1 : 0;  // bpftrace's word
    const std::string plain = more ? "arg" + std::string(rest.substr(4)) : std::string(rest);
    const size_t end = end_of_path_base(plain);
    if (end == 0) return false;
    path_.base = plain.substr(0, end);
    path_.text += path_.base;
    at_ += end + more;
    return true;
  }

  bool step(size_t end, size_t operand) {
    PathStep step{
        .column = path_.text.size(), .operand_start = operand, .operand_end = path_.text.size()};
    step.kind = text_[at_] == '-'   ? PathStep::Kind::arrow
                : text_[at_] == '.' ? PathStep::Kind::dot
                                    : PathStep::Kind::index;
    const size_t start = at_ + sign_bytes(step.kind);
    if (step.kind != PathStep::Kind::index)
      step.name = text_.substr(start, end - start);
    else if (!read_index(start, end - 1, step.index))
      return false;
    path_.text += text_.substr(at_, end - at_);
    path_.steps.push_back(std::move(step));
    at_ = end;
    return true;
  }

  bool read_index(size_t start, size_t end, uint64_t& index) {
    const auto [behind, failed] = std::from_chars(text_.data() + start, text_.data() + end, index);
    if (failed == std::errc{} && index <= FieldPath::kMostIndex) return true;
    error_ =
        path_error(text_, start, "an index is at most " + std::to_string(FieldPath::kMostIndex));
    return false;
  }

  std::string_view text_;
  size_t at_;
  unsigned depth_ = 0;
  FieldPath path_;
  std::optional<Error> error_;
};

}  // namespace

size_t end_of_steps(std::string_view text, size_t at) {
  for (size_t end = end_of_step(text, at); end > at; end = end_of_step(text, at)) at = end;
  return at;
}

size_t end_of_path_base(std::string_view text) {
  for (const std::string_view named : {std::string_view("arg."), kVariable})
    if (text.starts_with(named)) {
      const size_t end = end_of_name(text, named.size());
      return end > named.size() ? end : 0;
    }
  const size_t end = end_of_name(text, 0);
  if (text.substr(0, end) == "retval") return end;
  const bool is_numbered = text.starts_with("arg") && end > 3 && end_of_digits(text, 3) == end;
  return is_numbered ? end : 0;
}

bool is_cast(std::string_view text, size_t at) { return cast_type_at(text, at).has_value(); }

// Parentheses around a path alone are those of any expression.
size_t end_of_cast_path(std::string_view text, size_t at) {
  PathReader reader(text, at);
  if (!text.substr(at).starts_with('(') || !reader.read()) return at;
  const bool is_closed = text[reader.end() - 1] == ')' && !is_cast(text, at);
  return is_closed || reader.path().steps.empty() ? at : reader.end();
}

Result<FieldPath> parse_place(std::string_view text) {
  PathReader reader(text, 0);
  const bool is_read = reader.read();
  if (reader.error()) return *reader.error();
  if (!is_read && !reader.has_base())
    return path_error(text, reader.end(),
                      "a field is one of an argument, a variable or retval: arg.p->size");
  if (!is_read || reader.end() < text.size())
    return path_error(text, reader.end(), "a field is ->NAME, .NAME or [NUMBER]");
  FieldPath path = std::move(reader.path());
  if (path.steps.size() > FieldPath::kMostSteps)
    return path_error(
        text, path.steps[FieldPath::kMostSteps].column,
        "a path to a field has " + std::to_string(FieldPath::kMostSteps) + " steps at most");
  return path;
}

Result<FieldPath> parse_field_path(std::string_view text) {
  auto path = parse_place(text);
  if (path && path->steps.empty() && !is_variable(*path))
    return path_error(text, 0, "this names no field");
  return path;
}

}  // namespace tracectl
