// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/finding/shared_sites.h"

#include <algorithm>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>

namespace tracectl {
namespace {

constexpr std::string_view kFunction = "uprobe:";

// The wants of one probe, which stand together.
using Group = std::span<const Want>;

std::vector<Group> groups_of(const Wants& wants) {
  std::vector<Group> groups;
  for (auto begin = wants.begin(); begin != wants.end();) {
    const auto end = std::find_if(begin, wants.end(), [&](const Want& want) {
      return want.probe->name != begin->probe->name;
    });
    groups.emplace_back(begin, end);
    begin = end;
  }
  return groups;
}

bool have_same_sites(const Probe& a, const Probe& b) {
  return std::ranges::equal(a.sites, b.sites, {}, &Site::offset, &Site::offset);
}

// A name is parsed only where several meet.
bool is_function(const Want& want) {
  const auto probe = parse_pattern(want.probe->name);
  return probe && probe->kind == ProbeKind::function;
}

// Whether every hit that one takes, at any of its sites, would be taken by the other in the same way.
bool take_alike(Group a, Group b) {
  if (!have_same_sites(*a.front().probe, *b.front().probe) || !is_function(a.front()) ||
      !is_function(b.front()))
    return false;
  return std::ranges::equal(a, b, [](const Want& one, const Want& other) {
    return one.part == other.part && one.sides == other.sides;
  });
}

std::string_view function_of(const Want& want) {
  const std::string_view name = want.probe->name;
  return name.substr(name.rfind(':') + 1);
}

// Libraries begin their inner names with underscores: read is also __read.
auto rank_of(const Want& want) {
  const std::string_view function = function_of(want);
  const size_t underscores = std::min(function.find_first_not_of('_'), function.size());
  return std::tuple(underscores, function.size(), function);
}

bool is_preferred(Group a, Group b) { return rank_of(a.front()) < rank_of(b.front()); }

// `group` and those after it that take its hits alike, which are taken from `groups`.
std::vector<Group> alike(Group group, std::vector<Group>& groups) {
  std::vector<Group> same{group};
  std::erase_if(groups, [&](Group other) {
    if (!take_alike(group, other)) return false;
    same.push_back(other);
    return true;
  });
  return same;
}

}  // namespace

void SharedSites::join(Wants& wants) {
  if (wants.size() < 2 || !wants.front().probe->name.starts_with(kFunction)) return;
  Wants joined;
  for (auto groups = groups_of(wants); !groups.empty();) {
    const Group first = groups.front();
    groups.erase(groups.begin());
    const auto same = alike(first, groups);
    const Group kept = *std::ranges::min_element(same, is_preferred);
    joined.insert(joined.end(), kept.begin(), kept.end());
    for (const Group& other : same) {
      if (other.data() == kept.data()) continue;
      if (++left_ <= kMostNamed)
        named_.push_back(std::string(function_of(other.front())) + " as " +
                         std::string(function_of(kept.front())));
    }
  }
  wants = std::move(joined);
}

std::vector<std::string> SharedSites::notes() const {
  if (named_.empty()) return {};
  std::string text = "functions with the same address are one probe: ";
  for (const std::string& one : named_) text += (&one == &named_.front() ? "" : ", ") + one;
  if (left_ > named_.size()) text += " and " + std::to_string(left_ - named_.size()) + " more";
  return {text};
}

}  // namespace tracectl
