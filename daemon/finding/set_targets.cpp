// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/finding/set_targets.h"

#include <sys/stat.h>

#include <algorithm>
#include <string>

#include "daemon/process/cgroup_tree.h"
#include "daemon/process/running.h"

namespace tracectl {

namespace {

// The executable that the process runs, or is about to run.
Result<std::pair<dev_t, ino_t>> executable_of(const Process& process, const Target& target) {
  const std::string path =
      target.will_map.empty() ? process.proc_path("exe") : target.will_map.front();
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0)
    return Error::from_errno("executable of process " + std::to_string(process.pid()));
  return std::pair{status.st_dev, status.st_ino};
}

tc_sets sets_of(const std::vector<uint32_t>& numbers) {
  tc_sets sets{};
  for (const uint32_t number : numbers) sets.words[number / 64] |= uint64_t{1} << (number % 64);
  return sets;
}

}  // namespace

Result<uint16_t> SetTargets::take(dev_t device, ino_t inode, uint16_t saved) {
  return take(Executable{device, inode}, saved);
}

Result<uint16_t> SetTargets::take(const std::string& cgroup, uint16_t saved) {
  return take(Cgroup{cgroup}, saved);
}

Result<uint16_t> SetTargets::take_family(uint16_t session, const Process& process,
                                         const Target& target, uint16_t saved) {
  const auto executable = executable_of(process, target);
  if (!executable) return executable.error();
  auto set =
      take(Family{session, process.pid(), process.birth(), target.follow, *executable}, saved);
  if (!set) return set;
  // Its PID could have been reused before it was added.
  if (auto there = process.still_there(); !there) {
    give_back(*set);
    return there.error();
  }
  return set;
}

Result<uint16_t> SetTargets::take(const Key& key, uint16_t saved) {
  auto found = sets_.find(key);
  if (found == sets_.end()) {
    auto number = saved ? Result<uint32_t>(saved - 1u) : make(key);
    if (!number) return number.error();
    found = sets_.emplace(key, Set{*number, 0}).first;
  }
  ++found->second.users;
  return static_cast<uint16_t>(found->second.number + 1);
}

Result<uint32_t> SetTargets::make(const Key& key) {
  const auto number = numbers_.take();
  if (!number)
    return Error{Code::exhausted,
                 "more than " + std::to_string(int{TC_MAX_SET_TARGETS}) +
                     " executables, processes with children and cgroups are followed"};
  auto begun = std::visit([&](const auto& one) { return begin(one, *number); }, key);
  if (!begun) {
    numbers_.give_back(*number);
    return begun.error();
  }
  return *number;
}

Status SetTargets::begin(const Executable& executable, uint32_t number) {
  auto followed = kernel_sets_.follow_executable(executable.first, executable.second, number);
  if (followed) add_running(executable, number);
  return followed;
}

Status SetTargets::begin(const Family& family, uint32_t number) {
  const auto [device, inode] = family.executable;
  if (auto kept = kernel_sets_.keep_at_exec(device, inode, number); !kept) return kept;
  auto added = kernel_sets_.add_member(family.pid, number, family.follow);
  if (!added) kernel_sets_.end_at_exec(device, inode, number);
  return added;
}

Status SetTargets::begin(const Cgroup& cgroup, uint32_t number) {
  auto added = add_cgroups(cgroup.path, number);
  if (!added) kernel_sets_.clear_cgroups(number);
  return added;
}

// Adds each cgroup before looking below it: the BPF programs add those that are made in it from then on.
Status SetTargets::add_cgroups(const std::string& path, uint32_t number) {
  const auto tree = CgroupTree::open();
  if (!tree) return tree.error();
  const size_t slash = path.rfind('/');
  if (const std::string name = path.substr(slash + 1); !name.empty()) {
    const auto parent = tree->id_of(path.substr(0, slash));
    if (!parent) return parent.error();
    if (auto named = kernel_sets_.follow_cgroup(*parent, name, number); !named) return named;
  }
  Status all = ok();
  tree->visit(path, [&](uint64_t id) {
    if (auto added = kernel_sets_.add_cgroup(id, number); !added) all = added;
  });
  kernel_sets_.report_execs();
  return all;
}

// From here on the BPF programs see every exec and exit. A listed process that executed something else
// or ended before it was added must not stay in the set, so the processes are listed again.
void SetTargets::add_running(const Executable& executable, uint32_t number) {
  const auto running = [&] { return processes_running(executable.first, executable.second); };
  const auto before = running();
  for (const pid_t pid : before)
    (void)!kernel_sets_.add_member(pid, number, Follow::children).has_value();
  const auto after = running();
  for (const pid_t pid : before)
    if (std::find(after.begin(), after.end(), pid) == after.end())
      kernel_sets_.remove_member(pid, number);
}

void SetTargets::end(const Executable& executable, uint32_t) {
  kernel_sets_.forget_executable(executable.first, executable.second);
}

void SetTargets::end(const Family& family, uint32_t number) {
  kernel_sets_.end_at_exec(family.executable.first, family.executable.second, number);
}

void SetTargets::end(const Cgroup&, uint32_t number) { kernel_sets_.clear_cgroups(number); }

void SetTargets::restore(const std::vector<uint32_t>& numbers) {
  restored_ = numbers;
  numbers_.restore(numbers);
  kernel_sets_.end_but(sets_of(numbers));
}

void SetTargets::end_restoring() {
  std::vector<uint32_t> taken;
  for (const auto& [key, set] : sets_) taken.push_back(set.number);
  for (const uint32_t number : std::exchange(restored_, {}))
    if (std::find(taken.begin(), taken.end(), number) == taken.end()) numbers_.give_back(number);
  kernel_sets_.end_but(sets_of(taken));
}

void SetTargets::give_back(uint16_t set_target) {
  const uint32_t number = set_target - 1u;
  for (auto it = sets_.begin(); it != sets_.end(); ++it) {
    if (it->second.number != number || --it->second.users > 0) continue;
    std::visit([&](const auto& one) { end(one, number); }, it->first);
    kernel_sets_.clear_members(number);
    numbers_.give_back(number);
    sets_.erase(it);
    return;
  }
}

}  // namespace tracectl
