// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace tracectl {

// Which children of a process, forked later, also belong to the target.
enum class Follow : uint8_t { none, children, first_child };
constexpr Follow last_of(Follow) { return Follow::first_child; }

// Containers that were chosen by their names. A client looks up their cgroups, because only it may read the names.
struct NamedContainers {
  std::vector<std::string> names = {};
  std::vector<std::string> pods = {};  // NAMESPACE/NAME
  std::vector<std::string> cgroups =
      {};  // of those that ran when a client last looked; may be gone

  bool empty() const { return names.empty() && pods.empty(); }
  bool operator==(const NamedContainers& other) const {
    return names == other.names && pods == other.pods;
  }
};

// The processes in which a setting's probes fire. Empty: none was chosen.
struct Target {
  std::vector<pid_t> pids;
  std::vector<std::string> executables;  // every process that runs one of these, now or later
  bool all = false;                      // every process that maps the object
  // If the one process in `pids` has not executed its program yet: the paths of the files that it
  // will map, its executable first.
  std::vector<std::string> will_map;
  // Process::birth of each of `pids`, filled in when the setting is staged, because a PID can be
  // used again. 0: it has ended, and is skipped.
  std::vector<uint64_t> births = {};
  Follow follow = Follow::none;  // of `pids`
  // Every process in one of these cgroups of version 2 or below it, now or later: paths from the
  // root of the hierarchy, /system.slice/ssh.service.
  std::vector<std::string> cgroups = {};
  std::vector<std::string> units = {};  // of systemd's; stands for the cgroups it makes for them
  // The cgroups of `units`, in the same order, once the setting is staged.
  std::vector<std::string> unit_cgroups = {};
  // For those of these cgroups that did not exist: the programs that systemd will execute in them.
  std::map<std::string, std::vector<std::string>> planned = {};

  NamedContainers containers = {};

  bool follows_cgroups() const { return !cgroups.empty() || !units.empty() || !containers.empty(); }
  bool empty() const { return pids.empty() && executables.empty() && !all && !follows_cgroups(); }
  // Compares what users have asked for.
  bool operator==(const Target& other) const {
    return pids == other.pids && executables == other.executables && all == other.all &&
           will_map == other.will_map && follow == other.follow && cgroups == other.cgroups &&
           units == other.units && containers == other.containers;
  }
};

}  // namespace tracectl
