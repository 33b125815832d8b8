// SPDX-License-Identifier: BSD-2-Clause
#include "client/ui/typed_pattern.h"

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace tracectl::ui {
namespace {

bool is_kind(std::string_view word, std::string_view long_name, std::string_view short_name) {
  return word == long_name || word == short_name;
}

// What can still be continued gets a `*`.
std::string with_more(const std::string& part) {
  const bool has_offset =
      part.rfind('+') != part.npos && part.rfind('+') > 0 && part.find("operator+") == part.npos;
  const bool is_whole = part.empty() || part.back() == '*' || part.back() == ')' || has_offset;
  return is_whole ? part : part + '*';
}

// KIND:OBJECT:..., of which some parts are missing.
std::string with_missing_parts(const std::string& typed, ptrdiff_t wanted_colons) {
  const auto colons = std::ranges::count(typed, ':');
  if (colons >= wanted_colons) return typed.back() == ':' ? typed + '*' : with_more(typed);
  std::string pattern = typed.back() == ':' ? typed : with_more(typed);
  for (auto more = colons; more < wanted_colons; ++more) pattern += ":*";
  return pattern;
}

}  // namespace

std::vector<std::string> patterns_of_typed(const std::string& typed) {
  if (typed.empty()) return {"uprobe::*", "usdt::*:*"};
  const std::string_view kind = std::string_view(typed).substr(0, typed.find(':'));
  const bool has_colon = kind.size() < typed.size();
  if (has_colon && is_kind(kind, "usdt", "U")) return {with_missing_parts(typed, 3)};
  if (has_colon && is_kind(kind, "uprobe", "u")) return {with_missing_parts(typed, 2)};
  return {typed.back() == ':' ? typed + '*' : with_more(typed)};
}

}  // namespace tracectl::ui
