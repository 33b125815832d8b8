// SPDX-License-Identifier: BSD-2-Clause
//
// The existing cgroups of version 2, by their paths from the root of the hierarchy:
// /system.slice/ssh.service.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "daemon/base/result.h"

namespace tracectl {

class CgroupTree {
 public:
  // Fails with Code::unsupported if the hierarchy is not mounted.
  static Result<CgroupTree> open();

  // Converts `directory` to a path from the root: it may be a directory below the mount, or such a
  // path already.
  std::string path_of(const std::string& directory) const;

  // Fails with Code::not_found.
  Result<uint64_t> id_of(const std::string& path) const;
  // Visits the cgroup and all below it. Each is visited before its children are listed.
  void visit(const std::string& path, const std::function<void(uint64_t id)>& visitor) const;
  // Processes in the cgroup or below it, in ascending order. Those of PID namespaces that are not
  // visible from here are left out.
  std::vector<pid_t> processes_in(const std::string& path) const;
  // The cgroup that systemd made for the unit; of several the one nearest to the root. Fails with
  // Code::not_found if there is none now, and with Code::invalid if it is ambiguous.
  Result<std::string> of_unit(const std::string& unit) const;
  // The cgroups of containers whose id begins so: for each id the one nearest to the root.
  std::set<std::string> of_containers(const std::string& id_prefix) const;

 private:
  Error no_unit(const std::string& unit) const;  // with the name of one that it may stand for

  explicit CgroupTree(std::string mount) : mount_(std::move(mount)) {}

  std::string mount_;
};

// The cgroup of the process in the hierarchy of version 2; "/" if it cannot be read.
std::string cgroup_of(pid_t pid);

// Whether there is a cgroup of this path from the root now.
bool cgroup_exists(const std::string& path);

}  // namespace tracectl
