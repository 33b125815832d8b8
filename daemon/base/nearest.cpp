// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/base/nearest.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace tracectl {
namespace {

constexpr size_t kMaxEdits = 2;

// Levenshtein's distance, one row of the table at a time.
size_t edits_between(std::string_view from, std::string_view to) {
  std::vector<size_t> row(to.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < from.size(); i++) {
    size_t diagonal = std::exchange(row[0], i + 1);
    for (size_t j = 0; j < to.size(); j++) {
      size_t replaced = diagonal + (from[i] != to[j]);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

// Compares lengths first, because `wrong` may be as long as a message.
bool can_be_near(std::string_view a, std::string_view b) {
  return std::max(a.size(), b.size()) - std::min(a.size(), b.size()) <= kMaxEdits;
}

}  // namespace

std::vector<std::string_view> nearest_names(std::string_view wrong,
                                            std::span<const std::string_view> names, size_t most) {
  std::vector<std::pair<size_t, std::string_view>> near;
  for (std::string_view name : names) {
    if (!can_be_near(wrong, name)) continue;
    const size_t edits = edits_between(wrong, name);
    // Names of which every letter differs are not similar.
    if (edits <= kMaxEdits && edits < name.size()) near.emplace_back(edits, name);
  }
  std::ranges::stable_sort(near, {}, [](const auto& one) { return one.first; });
  std::vector<std::string_view> nearest;
  for (const auto& [edits, name] : near)
    if (nearest.size() < most && std::ranges::find(nearest, name) == nearest.end())
      nearest.push_back(name);
  return nearest;
}

std::string did_you_mean(std::string_view wrong, std::span<const std::string_view> names) {
  const auto nearest = nearest_names(wrong, names, 1);
  if (nearest.empty()) return {};
  return "; did you mean \"" + std::string{nearest.front()} + "\"?";
}

}  // namespace tracectl
