// SPDX-License-Identifier: BSD-2-Clause
//
// Names of cgroups. The kernel identifies a cgroup by a number, its id: the inode number of its
// directory in the hierarchy of version 2, also if hierarchies of version 1 are mounted beside it.
// The directory's path says which container or which unit of systemd it is.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "daemon/base/fd.h"

namespace tracectl {

// The mount point of cgroup version 2, from the text of /proc/self/mountinfo (proc(5)). If there are several, the one
// whose root is nearest to that of the hierarchy.
std::optional<std::string> cgroup2_mount(std::string_view mountinfo);

// Paths are from the root of the hierarchy: /system.slice/ssh.service. Both functions return the
// path if it contains no such name.

// The last component that is a service or a scope, as systemd calls it: ssh.service.
std::string unit_of(const std::string& path);
// The container's name: for docker, podman, containerd and CRI-O the first 12 digits of its id, as
// they list it; for LXC and systemd-nspawn its name.
std::string container_of(const std::string& path);

// 64 hexadecimal digits.
bool is_container_id(std::string_view text);
// The id in the name of a container's own cgroup, the last component of its path: libpod-ID.scope.
std::optional<std::string> container_id_of(std::string_view component);

// Maps ids to paths, and remembers them after their cgroups are gone.
class CgroupNames {
 public:
  // "cgroup ID" if it is gone and was never asked for before.
  std::string path_of(uint64_t id);

 private:
  std::optional<std::string> look_up(uint64_t id);
  std::optional<std::string> look_up_by_walking(uint64_t id);

  using Clock = std::chrono::steady_clock;

  static constexpr size_t kMostKept = 65536;
  static constexpr std::chrono::seconds kBetweenWalks{1};
  Clock::time_point walked_ = Clock::now() - kBetweenWalks;
  bool looked_for_mount_ = false;
  std::string mount_;
  Fd root_;
  std::unordered_map<uint64_t, std::string> paths_;
};

}  // namespace tracectl
