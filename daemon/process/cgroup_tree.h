// SPDX-License-Identifier: BSD-2-Clause
//
// The cgroups of version 2 that there are, by their paths from the root of the hierarchy:
// /system.slice/ssh.service.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "daemon/base/result.h"

namespace tracectl {

class CgroupTree {
 public:
  // Fails with Code::unsupported where the hierarchy is mounted nowhere.
  static Result<CgroupTree> open();

  // `directory` as a path from the root: it may be a directory below the mount, or such a path already.
  std::string path_of(const std::string& directory) const;

  // Fails with Code::not_found.
  Result<uint64_t> id_of(const std::string& path) const;
  // The cgroup and all below it. Each is visited before what is below it is looked for.
  void visit(const std::string& path, const std::function<void(uint64_t id)>& visitor) const;
  // In it or below, in ascending order. Those of PID namespaces that cannot be seen from here are left out.
  std::vector<pid_t> processes_in(const std::string& path) const;
  // That systemd has made for the unit, of several the one that is nearest to the root. Fails with
  // Code::not_found where there is none now, and with Code::invalid where it cannot be told.
  Result<std::string> of_unit(const std::string& unit) const;

 private:
  explicit CgroupTree(std::string mount) : mount_(std::move(mount)) {}

  std::string mount_;
};

// Of the process, in its hierarchy of version 2; "/" where nobody says.
std::string cgroup_of(pid_t pid);

}  // namespace tracectl
