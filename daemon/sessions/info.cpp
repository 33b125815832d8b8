// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/sessions/info.h"

#include <algorithm>
#include <map>
#include <utility>

#include "daemon/finding/resolver.h"
#include "daemon/object/pattern_names.h"

namespace tracectl {
namespace {

// Counters belong to one hook, so they identify it in the kernel's tables.
bool has(const Switching& switching, const tc_generation& generation, const Hook& hook) {
  const tc_hook* at = &generation.first;
  for (uint32_t i = 0; i < generation.hook_count; ++i) {
    if (at->stat == hook.stat) return true;
    at = &switching.hooks()[at->next];
  }
  return false;
}

void add(const Switching& switching, const Counters& counters, const Slots& slots, SlotId slot,
         const SessionHook& held, ProbeSettingInfo& info) {
  info.probe = held.probe;
  info.setting = held.setting;
  info.epoch = std::max(info.epoch, held.epoch);
  info.hits += counters.read_stat(held.hook.stat).hits;
  ++info.sites;
  info.may_wait |= slots.by_id.at(slot).way == Way::sleeping;
  if (!info.returns) info.returns = held.returns;
  for (size_t i = 0; i < info.generations.size(); ++i)
    info.generations[i] += has(switching, switching.slots()[slot].generation[i], held.hook);
}

}  // namespace

std::vector<ProbeSettingInfo> info_of(const Switching& switching, const Counters& counters,
                                      const SessionRows& rows, const Slots& slots,
                                      const Session& session, const Pattern& pattern) {
  std::map<std::pair<std::string_view, const Setting*>, ProbeSettingInfo> by_probe;
  for (const auto& [slot, hooks] : session.hooks)
    for (const SessionHook& held : hooks)
      if (names_probe(pattern, *held.probe))
        add(switching, counters, slots, slot, held, by_probe[{*held.probe, held.setting.get()}]);
  std::vector<ProbeSettingInfo> found;
  for (auto& [key, info] : by_probe) {
    info.session = session.name;
    info.paused = session.gated ? !rows.gate_is_open(session.id) : session.paused;
    found.push_back(std::move(info));
  }
  return found;
}

}  // namespace tracectl
