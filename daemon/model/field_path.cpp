// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/model/field_path.h"

#include <algorithm>
#include <charconv>
#include <system_error>
#include <utility>

namespace tracectl {
namespace {

using PathStep = FieldPath::Step;

bool is_number_char(char c) { return c >= '0' && c <= '9'; }

bool is_name_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

size_t end_of_name(std::string_view text, size_t at) {
  if (at >= text.size() || !is_name_start(text[at])) return at;
  while (at < text.size() && (is_name_start(text[at]) || is_number_char(text[at]))) at++;
  return at;
}

size_t end_of_digits(std::string_view text, size_t at) {
  while (at < text.size() && is_number_char(text[at])) at++;
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

Result<PathStep> step_of(std::string_view text, size_t at, size_t end) {
  PathStep step{.column = at};
  step.kind = text[at] == '-'   ? PathStep::Kind::arrow
              : text[at] == '.' ? PathStep::Kind::dot
                                : PathStep::Kind::index;
  const size_t start = at + sign_bytes(step.kind);
  if (step.kind != PathStep::Kind::index) {
    step.name = text.substr(start, end - start);
    return step;
  }
  const auto [behind, failed] =
      std::from_chars(text.data() + start, text.data() + end - 1, step.index);
  if (failed != std::errc{} || step.index > FieldPath::kMostIndex)
    return path_error(text, start, "an index is at most " + std::to_string(FieldPath::kMostIndex));
  return step;
}

}  // namespace

size_t end_of_steps(std::string_view text, size_t at) {
  for (size_t end = end_of_step(text, at); end > at; end = end_of_step(text, at)) at = end;
  return at;
}

size_t end_of_path_base(std::string_view text) {
  constexpr std::string_view kNamed = "arg.";
  if (text.starts_with(kNamed)) {
    const size_t end = end_of_name(text, kNamed.size());
    return end > kNamed.size() ? end : 0;
  }
  const size_t end = end_of_name(text, 0);
  if (text.substr(0, end) == "retval") return end;
  const bool is_numbered = text.starts_with("arg") && end > 3 && end_of_digits(text, 3) == end;
  return is_numbered ? end : 0;
}

Result<FieldPath> parse_field_path(std::string_view text) {
  FieldPath path{.text = std::string{text}, .base = {}, .steps = {}};
  const size_t stars = std::min(text.find_first_not_of('*'), text.size());
  const size_t base = end_of_path_base(text.substr(stars));
  if (base == 0)
    return path_error(text, stars, "a field is one of an argument or of retval: arg.p->size");
  path.base = text.substr(stars, base);
  for (size_t at = stars + base; at < text.size();) {
    const size_t end = end_of_step(text, at);
    if (end == at) return path_error(text, at, "a field is ->NAME, .NAME or [NUMBER]");
    auto step = step_of(text, at, end);
    if (!step) return step.error();
    path.steps.push_back(*std::move(step));
    at = end;
  }
  for (size_t i = stars; i > 0; --i)
    path.steps.push_back({.kind = PathStep::Kind::index, .column = i - 1});
  if (path.steps.empty()) return path_error(text, 0, "this names no field");
  if (path.steps.size() > FieldPath::kMostSteps)
    return path_error(
        text, path.steps[FieldPath::kMostSteps].column,
        "a path to a field has " + std::to_string(FieldPath::kMostSteps) + " steps at most");
  return path;
}

}  // namespace tracectl
