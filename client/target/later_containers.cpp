// SPDX-License-Identifier: BSD-2-Clause
#include "client/target/later_containers.h"

#include "client/target/containers.h"
#include "daemon/process/cgroup_tree.h"

namespace tracectl {

std::vector<std::string> LaterContainers::come() {
  if (!are_awaited() || Clock::now() < next_) return {};
  next_ = Clock::now() + std::chrono::milliseconds(kEveryMs);
  const auto tree = CgroupTree::open();
  if (!tree) return {};
  const auto known = known_containers();
  std::set<std::string> come;
  const auto add = [&](const std::string& path) {
    if (!there_.contains(path)) come.insert(path);
  };
  // Those that do not run now are awaited.
  for (const std::string& name : options_.containers)
    if (const auto path = cgroup_of_container(*tree, known, name)) add(*path);
  for (const std::string& pod : options_.pods)
    if (const auto paths = cgroups_of_pod(*tree, known, pod))
      for (const std::string& path : *paths) add(path);
  return {come.begin(), come.end()};
}

}  // namespace tracectl
