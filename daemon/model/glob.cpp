// SPDX-License-Identifier: BSD-2-Clause
//
// Globs. A `*` is tried with ever longer texts. When a later `*` is reached, earlier ones never
// need to be tried again, because the later one can match whatever they could. So one place to
// return to is enough, and the time is at most |glob| * |text|.
#include <optional>

#include "daemon/model/pattern.h"

namespace tracectl {
namespace {

struct SetMatch {
  size_t end = 0;  // after the `]`
  bool matches = false;
};

unsigned char byte_of(char c) { return static_cast<unsigned char>(c); }

// Matches the set that begins at glob[start] == '['; none if no `]` closes it. A `]` that comes
// first is a member, as in the shell.
std::optional<SetMatch> match_set(std::string_view glob, size_t start, char c) {
  size_t at = start + 1;
  bool negated = at < glob.size() && (glob[at] == '!' || glob[at] == '^');
  if (negated) at++;
  bool found = false;
  for (size_t first = at; at < glob.size(); at++) {
    if (glob[at] == ']' && at != first) return SetMatch{at + 1, found != negated};
    char low = glob[at], high = low;
    if (at + 2 < glob.size() && glob[at + 1] == '-' && glob[at + 2] != ']') high = glob[at += 2];
    found |= byte_of(low) <= byte_of(c) && byte_of(c) <= byte_of(high);
  }
  return std::nullopt;
}

// The position after the one element at `at`, if that element matches `c`.
std::optional<size_t> match_one(std::string_view glob, size_t at, char c) {
  if (glob[at] == '?') return at + 1;
  if (glob[at] == '[') {
    if (auto set = match_set(glob, at, c))
      return set->matches ? std::optional{set->end} : std::nullopt;
  }
  return glob[at] == c ? std::optional{at + 1} : std::nullopt;
}

// The positions after one element of the glob has matched the text at `from`.
struct Step {
  size_t glob, text;
};

template <class Take> bool match_all(std::string_view glob, std::string_view text, Take take) {
  size_t g = 0, t = 0;
  std::optional<Step> star;  // after the last `*`, and the text it has not matched
  while (t < text.size() || g < glob.size()) {
    if (g < glob.size() && glob[g] == '*') {
      star = Step{++g, t};
      continue;
    }
    std::optional<Step> next;
    if (g < glob.size() && t < text.size()) next = take(g, t);
    if (!next && star && star->text < text.size()) next = Step{star->glob, ++star->text};
    if (!next) return false;
    g = next->glob;
    t = next->text;
  }
  return true;
}

}  // namespace

bool glob_match(std::string_view glob, std::string_view text) {
  return match_all(glob, text, [&](size_t g, size_t t) -> std::optional<Step> {
    auto next = match_one(glob, g, text[t]);
    return next ? std::optional{Step{*next, t + 1}} : std::nullopt;
  });
}

bool is_glob(std::string_view text) { return text.find_first_of("*?[") != text.npos; }

bool names_by_glob(const Pattern& pattern) {
  const bool has_line = pattern.kind == ProbeKind::line || !pattern.file.empty();
  const bool all_lines = has_line && pattern.line == 0;
  return is_glob(pattern.function) || is_glob(pattern.provider) || is_glob(pattern.name) ||
         is_glob(pattern.file) || is_glob(pattern.host) || all_lines;
}

bool usdt_name_match(std::string_view glob, std::string_view name) {
  return match_all(glob, name, [&](size_t g, size_t t) -> std::optional<Step> {
    if (glob[g] == '-' && name.substr(t, 2) == "__") return Step{g + 1, t + 2};
    auto next = match_one(glob, g, name[t]);
    return next ? std::optional{Step{*next, t + 1}} : std::nullopt;
  });
}

}  // namespace tracectl
