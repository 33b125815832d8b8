// SPDX-License-Identifier: BSD-2-Clause
#include "client/ui/marks.h"

#include <algorithm>

#include "daemon/model/pattern.h"

namespace tracectl::ui {
namespace {

bool has_returns(const std::string& pattern) {
  const auto parsed = parse_pattern(pattern);
  return !parsed || parsed->kind == ProbeKind::function;
}

// What a hit does. Hits are counted in every view, so that no count stops while another view is shown.
std::string action_in(const Marks::Wanted& wanted, const std::string& pattern) {
  const bool times = wanted.view == View::times && has_returns(pattern);
  std::string action = times ? "count, time" : "count";
  if (wanted.events) action += times ? ", event, return" : ", event";
  return action;
}

std::string action_with_stacks(const Marks::Wanted& wanted) {
  return std::string("count, count by stack") + (wanted.events ? ", event, stack" : "");
}

}  // namespace

bool Marks::is_in_group(const std::string& probe) const {
  return std::ranges::any_of(groups_,
                             [&](const auto& group) { return group.second.contains(probe); });
}

bool Marks::has(const std::string& probe) const {
  return singles_.contains(probe) || is_in_group(probe);
}

size_t Marks::size() const {
  if (groups_.empty()) return singles_.size();
  std::set<std::string> all = singles_;
  for (const auto& [pattern, probes] : groups_) all.insert(probes.begin(), probes.end());
  return all.size();
}

void Marks::add_all(const FoundProbes& found) {
  auto& probes = groups_[found.pattern];
  for (const FoundProbe& one : found.probes) {
    probes.insert(one.probe);
    singles_.erase(one.probe);
  }
}

std::string Marks::remove(const std::string& probe) {
  for (const auto& [pattern, probes] : groups_)
    if (probes.contains(probe) && probes.size() > kMostTakenApart) return pattern;
  std::erase_if(groups_, [&](const auto& group) {
    if (!group.second.contains(probe)) return false;
    singles_.insert(group.second.begin(), group.second.end());
    return true;
  });
  std::erase_if(singles_, [&](const std::string& one) { return one == probe || is_in_group(one); });
  return "";
}

// Patterns come first: of several settings that meet at a site the last one is in force.
WantedSettings Marks::settings(const Wanted& wanted) const {
  WantedSettings settings;
  for (const auto& [pattern, probes] : groups_)
    settings.push_back({pattern, action_in(wanted, pattern)});
  const bool has_stacks = wanted.view == View::stacks && has(wanted.stacks_of);
  for (const std::string& probe : singles_)
    if (!has_stacks || probe != wanted.stacks_of)
      settings.push_back({probe, action_in(wanted, probe)});
  if (has_stacks) settings.push_back({wanted.stacks_of, action_with_stacks(wanted)});
  return settings;
}

}  // namespace tracectl::ui
