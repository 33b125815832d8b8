// SPDX-License-Identifier: BSD-2-Clause
//
// Names of cgroups. The kernel knows a cgroup by a number, its id: the number of its directory in the
// one hierarchy of version 2, also where others of version 1 are mounted beside it. A runtime of
// containers or systemd tells what it stands for by the directory's path.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "daemon/base/fd.h"

namespace tracectl {

// Where cgroup version 2 is mounted, of the text of /proc/self/mountinfo (proc(5)).
std::optional<std::string> cgroup2_mount(std::string_view mountinfo);

// Paths are from the root of the hierarchy: /system.slice/ssh.service. Both give the path where it has
// no such name.

// The last component that is a service or a scope, as systemd calls it: ssh.service.
std::string unit_of(const std::string& path);
// Of docker, podman, containerd, CRI-O the first 12 digits of the container's id, as they list it; of
// LXC and systemd-nspawn its name.
std::string container_of(const std::string& path);

// Paths by ids, which it keeps when their cgroups are gone.
class CgroupNames {
 public:
  // Of one that is gone and was never asked for: "cgroup ID".
  std::string path_of(uint64_t id);

 private:
  std::optional<std::string> look_up(uint64_t id);

  static constexpr size_t kMostKept = 65536;
  bool looked_for_mount_ = false;
  std::string mount_;
  Fd root_;
  std::unordered_map<uint64_t, std::string> paths_;
};

}  // namespace tracectl
