// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/sessions/drafts.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include "daemon/finding/coverage.h"
#include "daemon/switching/hooks.h"

namespace tracectl {
namespace {

// Checks, before anything is changed, that each spec is possible at each of its sites.
Status check_specs(const Coverage& coverage) {
  std::set<std::tuple<const Setting*, const Arguments*, const Arguments*, const ReturnPlan*>>
      checked;
  for (const auto& [key, wants] : coverage.wants)
    for (const Want& want : wants)
      if (const Site& site = *want.site;
          checked.insert({&want.setting(), site.args.get(), site.symbols.get(), site.returns.get()})
              .second)
        if (auto possible = Hooks::check(want); !possible) return possible;
  return ok();
}

// Sites and the exits of their functions.
size_t places_of(const Coverage& coverage) {
  size_t places = 0;
  for (const auto& [key, wants] : coverage.wants) {
    size_t exits = 0;
    for (const Want& want : wants)
      if (want.site->returns) exits = std::max(exits, want.site->returns->exits.size());
    places += 1 + exits;
  }
  return places;
}

// What a user of a kernel without uprobe_multi links should know before arming many sites.
std::optional<std::string> cost_of_disarming(size_t places) {
  constexpr size_t kFew = 10;
  constexpr double kLeastSeconds = 0.04, kMostSeconds = 0.25;  // a grace period each
  if (places <= kFew) return std::nullopt;
  const auto seconds = [&](double each) {
    return std::to_string(std::lround(std::ceil(each * static_cast<double>(places))));
  };
  return "this kernel disarms probes one after another (Linux 6.6 does so at once): these " +
         std::to_string(places) + " entries and exits will take " + seconds(kLeastSeconds) +
         " to " + seconds(kMostSeconds) + " s, in the background and switched off";
}

}  // namespace

Result<StageSummary> Drafts::set(const std::string& name, std::vector<Setting> settings) {
  auto session = sessions_.find(name);
  if (!session) return session.error();
  for (Setting& setting : settings) {
    if (setting.spec.syscalls && (*session)->access.owner)
      return Error{Code::denied,
                   "system calls are shown to who may trace every process: all processes of the "
                   "machine pay for that",
                   "do"};
    if (auto noted = note_processes(setting.target); !noted) return noted.error();
    if (auto noted = note_units(setting.target, !(*session)->access.owner); !noted)
      return noted.error();
  }
  if (auto known = gates_.triggers_of(**session, settings); !known) return known.error();
  auto covered = cover({resolver_, (*session)->access}, settings);
  if (!covered) return covered.error();
  if (auto checked = check_specs(*covered); !checked) return checked.error();
  auto draft = (*session)->draft.value_or((*session)->settings);
  for (const Setting& setting : settings) {
    // The setting replaces the former one entirely, and goes to the end, because the last one staged is in force.
    const auto is_replaced = [&](const Setting& old) {
      return old.pattern == setting.pattern && old.target == setting.target;
    };
    Setting& staged = draft.emplace_back(setting);
    // Functions that have been seen to be called stay known, whatever the new setting asks for.
    for (size_t i = 0; i + 1 < draft.size(); ++i)
      if (is_replaced(draft[i]) && staged.graph.grow) staged.graph.grown = draft[i].graph.grown;
    draft.erase(std::remove_if(draft.begin(), draft.end() - 1, is_replaced), draft.end() - 1);
  }
  if (auto within = quotas_.check_settings(**session, draft.size()); !within) return within.error();
  const size_t places = places_of(*covered);
  StageSummary summary{.settings = draft.size(),
                       .probes = covered->probe_count(),
                       .sites = covered->wants.size(),
                       .refused = covered->refused_and_left_out(),
                       .notes = std::move(covered->notes)};
  if (switching_.disarms_one_by_one())
    if (auto cost = cost_of_disarming(places)) summary.notes.push_back(std::move(*cost));
  (*session)->draft = std::move(draft);
  return summary;
}

Result<StageSummary> Drafts::remove(const std::string& name, const std::vector<Pattern>& patterns,
                                    const std::optional<Target>& target) {
  auto session = sessions_.find(name);
  if (!session) return session.error();
  auto draft = (*session)->draft.value_or((*session)->settings);
  for (const Pattern& pattern : patterns) {
    const size_t removed = std::erase_if(draft, [&](const Setting& setting) {
      return setting.pattern == pattern && (!target || setting.target == *target);
    });
    if (removed == 0)
      return Error{Code::not_found,
                   "the draft of \"" + name + "\" has no setting " + to_string(pattern) +
                       (target ? " with this target" : "") + "; tracectl session show " + name +
                       " lists them",
                   "patterns"};
  }
  StageSummary summary;
  summary.settings = draft.size();
  (*session)->draft = std::move(draft);
  return summary;
}

Status Drafts::abort(const std::string& name) {
  auto session = sessions_.find(name);
  if (!session) return session.error();
  (*session)->draft.reset();
  return ok();
}

}  // namespace tracectl
