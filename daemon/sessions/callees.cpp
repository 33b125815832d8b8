// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/sessions/callees.h"

#include <algorithm>
#include <optional>
#include <unordered_set>
#include <utility>

#include "daemon/process/maps.h"

namespace tracectl {
namespace {

struct Mapped {
  const MappedFile* file = nullptr;
  uint64_t offset = 0;  // in the file
};

std::optional<Mapped> mapped_at(const std::vector<MappedFile>& files, uint64_t address) {
  for (const MappedFile& file : files)
    for (const ExecutableRange& range : file.ranges)
      if (address >= range.start && address < range.end)
        return Mapped{&file, range.file_offset + (address - range.start)};
  return std::nullopt;
}

}  // namespace

Result<CalledAddresses> take_called_addresses(Counters& counters, const Session& session) {
  std::unordered_set<uint32_t> stats;
  for (const auto& [slot, hooks] : session.hooks)
    for (const SessionHook& held : hooks)
      if (held.setting->spec.sees_callees) stats.insert(held.hook.stat);
  CalledAddresses called;
  if (stats.empty()) return called;
  const auto counts = counters.read_counts();
  if (!counts) return counts.error();
  std::vector<tc_key> taken;
  for (const KeyCount& count : *counts) {
    if (!stats.contains(count.key.stat)) continue;
    taken.push_back(count.key);
    if (count.key.missing == 0)
      called[static_cast<pid_t>(count.key.part[0])].insert(count.key.part[1]);
  }
  counters.delete_counts(taken);
  return called;
}

CalleeFinder::CalleeFinder(Resolver& resolver, const Slots& slots, const Session& session)
    : resolver_(resolver), access_(session.access), seen_(session.callees_seen) {
  for (const auto& [id, hooks] : session.hooks) {
    const ObjectPtr& object = slots.by_id.at(id).object;
    if (std::find(known_.begin(), known_.end(), object) == known_.end()) known_.push_back(object);
  }
}

void CalleeFinder::look_at(pid_t pid, const std::set<uint64_t>& addresses) {
  const auto process = Process::open(pid);
  if (!process) return;
  const auto files = executable_files(*process);
  if (!files) return;
  for (const uint64_t address : addresses) {
    const auto mapped = mapped_at(*files, address);
    if (!mapped || !look_at(*process, *mapped->file, mapped->offset)) ++unknown_;
  }
}

bool CalleeFinder::look_at(const Process& process, const MappedFile& mapped, uint64_t offset) {
  const auto [place, is_new] = seen_.try_emplace({mapped.device, mapped.inode, offset}, false);
  if (!is_new) return place->second;
  const ObjectPtr object = file_of(process, mapped);
  if (!object) return false;
  auto name = object->reader().function_at(offset);
  if (!name || !*name) return false;
  Pattern function;
  function.object = object->path();
  function.function = std::move(**name);
  functions_.push_back(std::move(function));
  return place->second = true;
}

ObjectPtr CalleeFinder::file_of(const Process& process, const MappedFile& mapped) {
  const auto [at, is_new] = files_.try_emplace({mapped.device, mapped.inode});
  if (!is_new) return at->second;
  if (auto object = open(process, mapped)) at->second = *object;
  return at->second;
}

Result<ObjectPtr> CalleeFinder::open(const Process& process, const MappedFile& mapped) {
  auto fd = access_.open(process, mapped);
  if (!fd) return fd.error();
  const auto identity = FileIdentity::of(fd->get());
  if (!identity) return identity.error();
  for (const ObjectPtr& object : known_)
    if (object->identity() == *identity) return object;
  return resolver_.open(access_, std::move(*fd), mapped.path);
}

}  // namespace tracectl
