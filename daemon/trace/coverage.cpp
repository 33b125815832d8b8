// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/trace/coverage.h"

#include <algorithm>
#include <iterator>
#include <unordered_set>

namespace tracectl {
namespace {

bool same_probe(const Want& a, const Want& b) {
  return a.probe == b.probe || a.probe->name == b.probe->name;
}

// Whether the later one takes every hit that the earlier one would.
bool covers(const Want& later, const Want& earlier) {
  if (!same_probe(later, earlier)) return false;
  if (!later.part->process && !later.part->executable) return true;
  return same_process(later.part->process, earlier.part->process) &&
         later.executable() == earlier.executable();
}

void add_last(Wants& wants, const Want& want) {
  std::erase_if(wants, [&](const Want& earlier) { return covers(want, earlier); });
  const auto group = std::find_if(wants.begin(), wants.end(),
                                  [&](const Want& other) { return same_probe(want, other); });
  wants.insert(group, want);
}

using OneWant = std::pair<SlotKey, Want>;

void list_wants(const WantedPart& part, std::vector<OneWant>& wants) {
  const FileIdentity& file = part.object->identity();
  for (const Probe& probe : *part.probes)
    for (const Site& site : probe.sites) {
      const SlotKey key{.device = file.device,
                        .inode = file.inode,
                        .filter = part.process ? part.process->pid() : 0,
                        .filter_birth = part.process ? part.process->birth() : 0,
                        .offset = site.offset,
                        .semaphore = site.semaphore};
      wants.push_back({key, {.part = &part, .probe = &probe, .site = &site}});
    }
}

// Each slot's in the order of the settings.
std::vector<SlotWants> by_slot(const std::list<WantedPart>& parts) {
  std::vector<OneWant> wants;
  for (const WantedPart& part : parts) list_wants(part, wants);
  std::stable_sort(wants.begin(), wants.end(),
                   [](const OneWant& a, const OneWant& b) { return a.first < b.first; });
  std::vector<SlotWants> slots;
  slots.reserve(wants.size());
  for (const auto& [key, want] : wants) {
    if (slots.empty() || slots.back().key != key) slots.push_back({key, {}});
    add_last(slots.back().wants, want);
  }
  return slots;
}

Status add_setting(Resolver& resolver, const Setting& setting, size_t order, Coverage& coverage) {
  if (setting.target.empty())
    return Error{Code::invalid,
                 "choose the processes for " + to_string(setting.pattern) +
                     ": -p PID, -x PATH, -a, or -- COMMAND",
                 "target"};
  const auto returns = follows_calls(setting.spec) ? std::optional(setting.returns) : std::nullopt;
  auto resolved = resolver.resolve(setting.pattern, setting.target, returns);
  if (!resolved) return resolved.error();
  const auto shared = std::make_shared<const Setting>(setting);
  for (Resolved& part : resolved->parts) coverage.parts.push_back({std::move(part), order, shared});
  std::move(resolved->refused.begin(), resolved->refused.end(),
            std::back_inserter(coverage.refused));
  std::move(resolved->notes.begin(), resolved->notes.end(), std::back_inserter(coverage.notes));
  return ok();
}

Wants in_order(Wants wants, const Wants& more) {
  wants.insert(wants.end(), more.begin(), more.end());
  std::stable_sort(wants.begin(), wants.end(),
                   [](const Want& a, const Want& b) { return a.part->order < b.part->order; });
  Wants joined;
  for (const Want& want : wants) add_last(joined, want);
  return joined;
}

// Where a setting for one process meets one for many, both go to the slot of the many: two links
// would each take the hit, and only one of the settings holds. The commit that brings a site of the
// one process there, or back, hands no hit over: one that a thread is in at the switch can be missed
// or counted twice.
void join_slots(Coverage& coverage) {
  for (SlotWants& one : coverage.wants) {
    if (!one.key.filter) continue;
    SlotKey unfiltered = one.key;
    unfiltered.filter = 0;
    unfiltered.filter_birth = 0;
    const auto twin = coverage.find(unfiltered);
    if (twin == coverage.wants.end()) continue;
    twin->wants = in_order(std::move(twin->wants), one.wants);
    one.wants.clear();
  }
  std::erase_if(coverage.wants, [](const SlotWants& one) { return one.wants.empty(); });
}

}  // namespace

std::optional<std::pair<dev_t, ino_t>> Want::executable() const {
  if (!part->executable) return std::nullopt;
  const FileIdentity& file = part->object->identity();
  return std::pair{file.device, file.inode};
}

std::vector<SlotWants>::iterator Coverage::find(const SlotKey& key) {
  const auto at = std::lower_bound(
      wants.begin(), wants.end(), key,
      [](const SlotWants& one, const SlotKey& sought) { return one.key < sought; });
  return at != wants.end() && at->key == key ? at : wants.end();
}

size_t Coverage::probe_count() const {
  std::unordered_set<std::string_view> names;
  names.reserve(wants.size());
  for (const auto& [key, at_slot] : wants)
    for (const Want& want : at_slot) names.insert(want.probe->name);
  return names.size();
}

bool Coverage::any_event() const {
  for (const auto& [key, at_slot] : wants)
    for (const Want& want : at_slot)
      if (want.setting().spec.event) return true;
  return false;
}

Result<Coverage> cover(Resolver& resolver, const std::vector<Setting>& settings) {
  Coverage coverage;
  for (size_t i = 0; i < settings.size(); ++i)
    if (auto added = add_setting(resolver, settings[i], i, coverage); !added) return added.error();
  coverage.wants = by_slot(coverage.parts);
  join_slots(coverage);
  return coverage;
}

}  // namespace tracectl
