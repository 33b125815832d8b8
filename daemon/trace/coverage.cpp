// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/trace/coverage.h"

#include <algorithm>
#include <iterator>
#include <unordered_set>

namespace tracectl {
namespace {

bool same_probe(const Want& a, const Want& b) { return *a.probe == *b.probe; }

// Whether the later one takes every hit that the earlier one would.
bool covers(const Want& later, const Want& earlier) {
  if (!same_probe(later, earlier)) return false;
  if (!later.process && !later.executable) return true;
  return same_process(later.process, earlier.process) && later.executable == earlier.executable;
}

void add_last(Wants& wants, Want want) {
  std::erase_if(wants, [&](const Want& earlier) { return covers(want, earlier); });
  const auto group = std::find_if(wants.begin(), wants.end(),
                                  [&](const Want& other) { return same_probe(want, other); });
  wants.insert(group, std::move(want));
}

void add_wants(const Resolved& part, const std::shared_ptr<const Setting>& setting, size_t order,
               Coverage& coverage) {
  const FileIdentity& file = part.object->identity();
  std::optional<std::pair<dev_t, ino_t>> executable;
  if (part.executable) executable = {file.device, file.inode};
  for (const Probe& probe : *part.probes) {
    const std::shared_ptr<const std::string> name{part.probes, &probe.name};
    for (const Site& site : probe.sites) {
      const SlotKey key{.device = file.device,
                        .inode = file.inode,
                        .filter = part.process ? part.process->pid() : 0,
                        .filter_birth = part.process ? part.process->birth() : 0,
                        .offset = site.offset,
                        .semaphore = site.semaphore};
      add_last(coverage.wants[key], {.order = order,
                                     .object = part.object,
                                     .probe = name,
                                     .args = site.args,
                                     .setting = setting,
                                     .process = part.process,
                                     .unmapped = part.unmapped,
                                     .nop5 = site.cost == CostClass::fast,
                                     .executable = executable});
    }
  }
}

Status add_setting(Resolver& resolver, const Setting& setting, size_t order, Coverage& coverage) {
  if (setting.target.empty())
    return Error{Code::invalid,
                 "choose the processes for " + to_string(setting.pattern) +
                     ": -p PID, -x PATH, -a, or -- COMMAND",
                 "target"};
  auto resolved = resolver.resolve(setting.pattern, setting.target);
  if (!resolved) return resolved.error();
  const auto shared = std::make_shared<const Setting>(setting);
  for (const Resolved& part : resolved->parts) add_wants(part, shared, order, coverage);
  std::move(resolved->refused.begin(), resolved->refused.end(),
            std::back_inserter(coverage.refused));
  std::move(resolved->notes.begin(), resolved->notes.end(), std::back_inserter(coverage.notes));
  return ok();
}

Wants in_order(Wants wants, Wants more) {
  std::move(more.begin(), more.end(), std::back_inserter(wants));
  std::stable_sort(wants.begin(), wants.end(),
                   [](const Want& a, const Want& b) { return a.order < b.order; });
  Wants joined;
  for (Want& want : wants) add_last(joined, std::move(want));
  return joined;
}

// Where a setting for one process meets one for many, both go to the slot of the many: two links
// would each take the hit, and only one of the settings holds. The commit that brings a site of the
// one process there, or back, hands no hit over: one that a thread is in at the switch can be missed
// or counted twice.
void join_slots(Coverage& coverage) {
  auto& wants = coverage.wants;
  for (auto at = wants.begin(); at != wants.end();) {
    SlotKey unfiltered = at->first;
    unfiltered.filter = 0;
    unfiltered.filter_birth = 0;
    const auto twin = at->first.filter ? wants.find(unfiltered) : wants.end();
    if (twin == wants.end()) {
      ++at;
      continue;
    }
    twin->second = in_order(std::move(twin->second), std::move(at->second));
    at = wants.erase(at);
  }
}

}  // namespace

size_t Coverage::probe_count() const {
  std::unordered_set<std::string_view> names;
  for (const auto& [key, at_slot] : wants)
    for (const Want& want : at_slot) names.insert(*want.probe);
  return names.size();
}

bool Coverage::any_event() const {
  for (const auto& [key, at_slot] : wants)
    for (const Want& want : at_slot)
      if (want.setting->spec.event) return true;
  return false;
}

Result<Coverage> cover(Resolver& resolver, const std::vector<Setting>& settings) {
  Coverage coverage;
  for (size_t i = 0; i < settings.size(); ++i)
    if (auto added = add_setting(resolver, settings[i], i, coverage); !added) return added.error();
  join_slots(coverage);
  return coverage;
}

}  // namespace tracectl
