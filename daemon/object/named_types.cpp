// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/object/named_types.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

#include "daemon/base/nearest.h"

namespace tracectl {
namespace {

using dwarf::Die;

constexpr size_t kMostEntriesSeen = 1'000'000;
constexpr size_t kMostNearNames = 10'000;
constexpr int kDeepestScope = 16;

constexpr std::array kTags = std::to_array<std::string_view>({"struct ", "class ", "union "});

bool is_tagged(unsigned tag) {
  return tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type;
}

bool is_type(unsigned tag) {
  return is_tagged(tag) || tag == DW_TAG_typedef || tag == DW_TAG_enumeration_type ||
         tag == DW_TAG_base_type;
}

// Without spaces that separate no words: `Map<int, char *>` and `Map<int,char*>` are one.
std::string without_spaces(std::string_view name) {
  const auto is_of_word = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
  };
  std::string plain;
  for (size_t i = 0; i < name.size(); ++i) {
    const bool separates = name[i] == ' ' && !plain.empty() && is_of_word(plain.back()) &&
                           i + 1 < name.size() && is_of_word(name[i + 1]);
    if (name[i] != ' ' || separates) plain += name[i];
  }
  return plain;
}

// Compilers write `long unsigned int` or `unsigned long`: the words in one order, without an `int` beside others.
std::string of_base_type(const std::string& name) {
  std::vector<std::string> words{""};
  for (const char c : name)
    if (c == ' ')
      words.emplace_back();
    else
      words.back() += c;
  if (words == std::vector<std::string>{"unsigned"} || words == std::vector<std::string>{"signed"})
    words.emplace_back("int");
  constexpr std::array kSizes = std::to_array<std::string_view>({"long", "short"});
  const bool has_size = std::ranges::any_of(words, [&](const std::string& word) {
    return std::ranges::find(kSizes, word) != kSizes.end();
  });
  if (has_size) std::erase(words, "int");
  std::ranges::sort(words);
  std::string joined;
  for (const std::string& word : words) joined += (joined.empty() ? "" : " ") + word;
  return joined;
}

std::string compared(const Die& die, const std::string& qualified) {
  const std::string plain = without_spaces(qualified);
  return dwarf::tag_of(die) == DW_TAG_base_type ? of_base_type(plain) : plain;
}

}  // namespace

NamedType::NamedType(const Die& unit, const std::string& name) : name_(name) {
  std::string_view plain = name;
  for (const std::string_view tag : kTags)
    if (plain.starts_with(tag)) {
      is_tagged_ = true;
      plain.remove_prefix(tag.size());
      break;
    }
  wanted_ = without_spaces(plain);
  search(unit, "", 0);
}

// Each returns whether the search is over.

bool NamedType::search(const Die& parent, const std::string& prefix, int depth) {
  bool is_over = depth > kDeepestScope;
  if (is_over) return false;
  dwarf::each_child(parent, [&](const Die& child) {
    is_over = ++seen_ > kMostEntriesSeen || look_at(child, prefix, depth);
    return !is_over;
  });
  return is_over;
}

bool NamedType::look_at(const Die& die, const std::string& prefix, int depth) {
  const unsigned tag = dwarf::tag_of(die);
  const bool is_namespace = tag == DW_TAG_namespace;
  if (!is_namespace && !is_type(tag)) return false;
  const std::string name = dwarf::name_of(die);
  if (!is_namespace) {
    if (name.empty()) return false;
    const std::string qualified = prefix + name;
    const std::string mine = compared(die, qualified);
    if (mine == wanted_ || (tag == DW_TAG_base_type && mine == of_base_type(wanted_)))
      return take(die);
    if (names_.size() < kMostNearNames && tag != DW_TAG_base_type) names_.push_back(qualified);
    if (!is_tagged(tag) || !wanted_.starts_with(mine + "::")) return false;
  }
  const bool is_transparent = name.empty() || dwarf::flag(die, DW_AT_export_symbols);
  if (is_namespace && is_transparent && search(die, prefix, depth + 1)) return true;
  const std::string within = without_spaces(prefix + name) + "::";
  return !name.empty() && wanted_.starts_with(within) &&
         search(die, prefix + name + "::", depth + 1);
}

bool NamedType::take(const Die& die) {
  if (is_tagged_ && !is_tagged(dwarf::tag_of(die))) return false;
  if (dwarf::flag(die, DW_AT_declaration)) {
    is_declared_ = true;
    return false;
  }
  found_ = die;
  return true;
}

std::string NamedType::why_not() const {
  if (seen_ > kMostEntriesSeen)
    return "\"" + name_ + "\" is not among the first " + std::to_string(kMostEntriesSeen) +
           " entries where this function was compiled";
  return "there is no type \"" + name_ +
         "\" where this function was compiled, and no such struct elsewhere" +
         did_you_mean(wanted_, std::vector<std::string_view>(names_.begin(), names_.end()));
}

}  // namespace tracectl
