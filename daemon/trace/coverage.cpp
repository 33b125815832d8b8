// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/trace/coverage.h"

#include <set>

namespace tracectl {
namespace {

void add_wants(const Resolved& part, const std::shared_ptr<const Setting>& setting,
               Coverage& coverage) {
  const FileIdentity& file = part.object->identity();
  std::optional<std::pair<dev_t, ino_t>> executable;
  if (part.executable) executable = {file.device, file.inode};
  for (const Probe& probe : part.probes) {
    const auto name = std::make_shared<const std::string>(probe.name);
    for (const Site& site : probe.sites) {
      const SlotKey key{.device = file.device,
                        .inode = file.inode,
                        .filter = part.process ? part.process->pid() : 0,
                        .filter_start_ticks = part.process ? part.process->start_ticks() : 0,
                        .offset = site.offset,
                        .semaphore = site.semaphore};
      coverage.wants.insert_or_assign(
          key, Want{part.object, name, site.args, setting, part.process, executable});
    }
  }
}

Status add_setting(Resolver& resolver, const Setting& setting, Coverage& coverage) {
  if (setting.target.empty())
    return Error{Code::invalid,
                 "choose the processes for " + to_string(setting.pattern) +
                     ": -p PID, -x PATH, -a, or -- COMMAND",
                 "target"};
  auto resolved = resolver.resolve(setting.pattern, setting.target);
  if (!resolved) return resolved.error();
  const auto shared = std::make_shared<const Setting>(setting);
  for (const Resolved& part : resolved->parts) add_wants(part, shared, coverage);
  std::move(resolved->refused.begin(), resolved->refused.end(),
            std::back_inserter(coverage.refused));
  std::move(resolved->notes.begin(), resolved->notes.end(), std::back_inserter(coverage.notes));
  return ok();
}

}  // namespace

size_t Coverage::probe_count() const {
  std::set<std::string_view> names;
  for (const auto& [key, want] : wants) names.insert(*want.probe);
  return names.size();
}

Result<Coverage> cover(Resolver& resolver, const std::vector<Setting>& settings) {
  Coverage coverage;
  for (const Setting& setting : settings)
    if (auto added = add_setting(resolver, setting, coverage); !added) return added.error();
  return coverage;
}

}  // namespace tracectl
