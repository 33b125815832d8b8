// SPDX-License-Identifier: BSD-2-Clause
#include "daemon/trace/set_targets.h"

#include <algorithm>

#include "daemon/process/running.h"

namespace tracectl {

Result<uint16_t> SetTargets::take(dev_t device, ino_t inode) {
  const Executable executable{device, inode};
  auto found = sets_.find(executable);
  if (found == sets_.end()) {
    auto number = make(executable);
    if (!number) return number.error();
    found = sets_.emplace(executable, Set{*number, 0}).first;
  }
  ++found->second.users;
  return static_cast<uint16_t>(found->second.number + 1);
}

Result<uint32_t> SetTargets::make(const Executable& executable) {
  const auto number = numbers_.take();
  if (!number)
    return Error{Code::exhausted, "more than " + std::to_string(int{TC_MAX_SET_TARGETS}) +
                                      " executables are followed"};
  auto followed = kernel_.follow_executable(executable.first, executable.second, *number);
  if (!followed) {
    numbers_.give_back(*number);
    return followed.error();
  }
  add_running(executable, *number);
  return *number;
}

// From here on the programs see every exec and exit. A process that was listed and has executed
// something else or ended before it was added must not stay in the set, so it is looked at again.
void SetTargets::add_running(const Executable& executable, uint32_t number) {
  const auto running = [&] { return processes_running(executable.first, executable.second); };
  const auto before = running();
  for (const pid_t pid : before) (void)!kernel_.add_member(pid, number).has_value();
  const auto after = running();
  for (const pid_t pid : before)
    if (std::find(after.begin(), after.end(), pid) == after.end())
      kernel_.remove_member(pid, number);
}

void SetTargets::give_back(uint16_t set_target) {
  const uint32_t number = set_target - 1u;
  for (auto it = sets_.begin(); it != sets_.end(); ++it) {
    if (it->second.number != number || --it->second.users > 0) continue;
    kernel_.forget_executable(it->first.first, it->first.second);
    kernel_.clear_members(number);
    numbers_.give_back(number);
    sets_.erase(it);
    return;
  }
}

}  // namespace tracectl
