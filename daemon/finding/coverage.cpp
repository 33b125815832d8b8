// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/finding/coverage.h"

#include <algorithm>
#include <iterator>
#include <unordered_set>

#include "bpf/abi.h"
#include "daemon/finding/graph_coverage.h"
#include "daemon/finding/shared_sites.h"
#include "daemon/finding/wanted_parts.h"

namespace tracectl {
namespace {

// Whether two of a graph's parts, one of them below a root, would show one call twice, under two names of the function.
bool show_one_call(const Want& a, const Want& b) {
  const bool any_below = a.part->what == Beside::below || b.part->what == Beside::below;
  return any_below && a.part != b.part && a.setting().spec.graph && b.setting().spec.graph;
}

bool same_probe(const Want& a, const Want& b) {
  if (show_one_call(a, b)) return true;
  if (a.setting().spec.learns_tags != b.setting().spec.learns_tags) return false;
  if (a.setting().spec.sees_callees != b.setting().spec.sees_callees) return false;
  return a.probe == b.probe || a.probe->name == b.probe->name;
}

// Whether the later one takes every hit that the earlier one would.
bool covers(const Want& later, const Want& earlier) {
  if (!same_probe(later, earlier)) return false;
  if (!later.part->process && !later.part->executable && !later.part->cgroup) return true;
  const bool same_children =
      later.part->follow == earlier.part->follow || later.part->follow == Follow::children;
  return same_children && same_process(later.part->process, earlier.part->process) &&
         later.executable() == earlier.executable() && later.part->cgroup == earlier.part->cgroup;
}

bool same_setting(const Want& a, const Want& b) { return a.part->setting == b.part->setting; }

// A probe that is both sides of a pair is wanted once.
Want joined_sides(Want want, const Wants& wants) {
  for (const Want& other : wants)
    if (same_setting(want, other) && covers(want, other)) want.sides |= other.sides;
  return want;
}

// Returns an error if a pair would lose a side to another setting, because it would measure nothing.
std::optional<Error> one_side_lost(const Wants& wants, const Want& want) {
  for (const Want& other : wants) {
    if (same_setting(want, other) || !same_probe(want, other)) continue;
    if (!want.sides && !other.sides) continue;
    if (!covers(want, other) && !covers(other, want)) continue;
    const Setting& pair = want.sides ? want.setting() : other.setting();
    return Error{Code::invalid,
                 want.probe->name + " is one end of the latency from " +
                     to_string(pair.latency->from) + " to " + to_string(pair.pattern) +
                     ", and another setting of the session has it too: give that another session",
                 "patterns"};
  }
  return std::nullopt;
}

void add_last(Wants& wants, Want want) {
  if (want.sides) want = joined_sides(want, wants);
  std::erase_if(wants, [&](const Want& earlier) { return covers(want, earlier); });
  const auto group = std::find_if(wants.begin(), wants.end(),
                                  [&](const Want& other) { return same_probe(want, other); });
  wants.insert(group, want);
}

using OneWant = std::pair<SlotKey, Want>;

void list_wants(const WantedPart& part, std::vector<OneWant>& wants) {
  const FileIdentity& file = part.object->identity();
  const Process* filter = part.filter();
  for (const Probe& probe : *part.probes)
    for (const Site& site : probe.sites) {
      const SlotKey key{.device = file.device,
                        .inode = file.inode,
                        .filter = filter ? filter->pid() : 0,
                        .filter_birth = filter ? filter->birth() : 0,
                        .offset = site.offset,
                        .semaphore = site.semaphore};
      wants.push_back({key, {.part = &part, .probe = &probe, .site = &site, .sides = part.sides}});
    }
}

// The wants of each slot are in the order of the settings.
Result<std::vector<SlotWants>> by_slot(const std::list<WantedPart>& parts) {
  std::vector<OneWant> wants;
  for (const WantedPart& part : parts) list_wants(part, wants);
  std::stable_sort(wants.begin(), wants.end(),
                   [](const OneWant& a, const OneWant& b) { return a.first < b.first; });
  std::vector<SlotWants> slots;
  slots.reserve(wants.size());
  for (const auto& [key, want] : wants) {
    if (slots.empty() || slots.back().key != key) slots.push_back({key, {}});
    if (auto lost = one_side_lost(slots.back().wants, want)) return *lost;
    add_last(slots.back().wants, want);
  }
  return slots;
}

bool is_of_single_processes(const Target& target) {
  return !target.pids.empty() && target.follow == Follow::none && target.executables.empty() &&
         !target.all && !target.follows_cgroups();
}

Status check(const Setting& setting) {
  if (setting.target.empty())
    return Error{Code::invalid,
                 "choose the processes for " + to_string(setting.pattern) +
                     ": -p PID, -x PATH, -u UNIT, --cgroup PATH, -a, or -- COMMAND",
                 "target"};
  if (setting.graph.imports && !is_of_single_processes(setting.target))
    return Error{Code::invalid,
                 "functions of libraries are shown below a graph only in processes of -p PID or "
                 "-- COMMAND, without -f: elsewhere every process that maps the library would hit "
                 "their probes; name those that you want: libc.so*:malloc",
                 "graph"};
  if (setting.spec.graph && setting.latency)
    return Error{Code::invalid, "a graph is of calls, and has no other probe as its start", "from"};
  return ok();
}

Status add_setting(const ResolverFor& resolver, const Root& root, Coverage& coverage) {
  const Source source = root.source(Beside::nothing);
  const Setting& setting = root.setting;
  if (!setting.latency) return add_pattern(resolver, setting.pattern, source, 0, coverage);
  auto from = add_pattern(resolver, setting.latency->from, source, TC_PAIR_FROM, coverage);
  if (!from) return from;
  return add_pattern(resolver, setting.pattern, source, TC_PAIR_TO, coverage);
}

// Tags come before all other settings.
void add_tags(const ResolverFor& resolver, const std::vector<Setting>& settings,
              Coverage& coverage) {
  std::vector<Setting> added;
  for (size_t i = 0; i < settings.size(); ++i) {
    if (!uses_tags(settings[i])) continue;
    const Source learning = Root{i, settings[i]}.source(Beside::tags);
    if (std::find(added.begin(), added.end(), *learning.setting) != added.end()) continue;
    Coverage found;
    const auto done = add_pattern(resolver, learning.setting->pattern, learning, 0, found);
    added.push_back(*learning.setting);
    if (!done && done.error().code != Code::not_found)
      coverage.notes.push_back(tags_not_seen(done.error().message));
    for (const Refusal& refusal : found.refused)
      coverage.notes.push_back(tags_not_seen(refusal.probe + ": " + refusal.reason));
    coverage.parts.splice(coverage.parts.end(), found.parts);
  }
}

Result<Wants> in_order(Wants wants, const Wants& more) {
  wants.insert(wants.end(), more.begin(), more.end());
  std::stable_sort(wants.begin(), wants.end(),
                   [](const Want& a, const Want& b) { return a.part->order() < b.part->order(); });
  Wants joined;
  for (const Want& want : wants) {
    if (auto lost = one_side_lost(joined, want)) return *lost;
    add_last(joined, want);
  }
  return joined;
}

// If a setting for one process and one for many want the same site, both go to the slot of the many:
// with two links, both would take the hit, but only one of the settings is in force. The commit that
// moves a site of the one process there, or back, does not hand over hits: a hit that a thread is in at
// the switch can be missed or counted twice.
Status join_slots(Coverage& coverage) {
  for (SlotWants& one : coverage.wants) {
    if (!one.key.filter) continue;
    SlotKey unfiltered = one.key;
    unfiltered.filter = 0;
    unfiltered.filter_birth = 0;
    const auto twin = coverage.find(unfiltered);
    if (twin == coverage.wants.end()) continue;
    auto joined = in_order(std::move(twin->wants), one.wants);
    if (!joined) return joined.error();
    twin->wants = std::move(*joined);
    one.wants.clear();
  }
  std::erase_if(coverage.wants, [](const SlotWants& one) { return one.wants.empty(); });
  return ok();
}

void join_shared_sites(Coverage& coverage) {
  SharedSites shared;
  for (SlotWants& one : coverage.wants) shared.join(one.wants);
  std::ranges::move(shared.notes(), std::back_inserter(coverage.notes));
}

// `coverage` holds what comes before the settings. Functions below graphs come before them too, because
// one graph's root may be below another.
Result<Coverage> cover(const ResolverFor& resolver, const std::vector<Setting>& settings,
                       Coverage coverage) {
  for (const Setting& setting : settings)
    if (auto checked = check(setting); !checked) return checked.error();
  for (size_t i = 0; i < settings.size(); ++i)
    if (settings[i].spec.graph)
      if (auto added = add_below(resolver, {i, settings[i]}, coverage); !added)
        return added.error();
  for (size_t i = 0; i < settings.size(); ++i)
    if (auto added = add_setting(resolver, {i, settings[i]}, coverage); !added)
      return added.error();
  // Parts that were left out above because an answer is pending must not stay left out.
  if (auto read = resolver.check_all_read(); !read) return read.error();
  auto wants = by_slot(coverage.parts);
  if (!wants) return wants.error();
  coverage.wants = std::move(*wants);
  if (auto joined = join_slots(coverage); !joined) return joined.error();
  join_shared_sites(coverage);
  return coverage;
}

}  // namespace

std::vector<FollowedFile> followed_files(const Coverage& coverage) {
  std::vector<FollowedFile> files;
  for (const WantedPart& part : coverage.parts) {
    const std::string cgroup = part.cgroup.value_or("");
    const auto is_it = [&](const FollowedFile& file) {
      return file.cgroup == cgroup && file.object->path() == part.object->path() &&
             file.object->identity().device == part.object->identity().device &&
             file.object->identity().inode == part.object->identity().inode;
    };
    if (part.process || part.probes->empty()) continue;
    if (std::none_of(files.begin(), files.end(), is_it)) files.push_back({cgroup, part.object});
  }
  return files;
}

std::vector<FollowedLibrary> followed_libraries(const Coverage& coverage) {
  std::vector<FollowedLibrary> libraries;
  size_t most_unmapped = kMostUnmapped;
  for (const WantedPart& part : coverage.parts) {
    const auto& process = part.process;
    if (!process || part.probes->empty()) continue;
    const auto is_it = [&](const FollowedLibrary& library) {
      return library.pid == process->pid() && library.birth == process->birth() &&
             library.object->path() == part.object->path() &&
             library.object->identity().device == part.object->identity().device &&
             library.object->identity().inode == part.object->identity().inode;
    };
    if (std::any_of(libraries.begin(), libraries.end(), is_it)) continue;
    if (part.unmapped && most_unmapped == 0) continue;
    most_unmapped -= part.unmapped;
    libraries.push_back({process->pid(), process->birth(), part.object, !part.unmapped});
  }
  return libraries;
}

std::string tags_not_seen(const std::string& why) {
  return "tags of the program's own are not seen: " + why;
}

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
    for (const Want& want : at_slot)
      if (!want.setting().spec.sees_callees) names.insert(want.probe->name);
  return names.size();
}

std::vector<Refusal> Coverage::refused_and_left_out() const {
  std::vector<Refusal> all = refused;
  all.insert(all.end(), left_out.begin(), left_out.end());
  return all;
}

bool Coverage::needs_rings() const {
  for (const auto& [key, at_slot] : wants)
    for (const Want& want : at_slot)
      if (has_events(want.setting().spec) || has_stack_keys(want.setting().spec)) return true;
  return false;
}

Result<Coverage> cover(const ResolverFor& resolver, const std::vector<Setting>& settings) {
  resolver.begin_count();
  return cover(resolver, settings, {});
}

Result<Coverage> cover_with_tags(const ResolverFor& resolver,
                                 const std::vector<Setting>& settings) {
  resolver.begin_count();
  Coverage coverage;
  add_tags(resolver, settings, coverage);
  return cover(resolver, settings, std::move(coverage));
}

}  // namespace tracectl
