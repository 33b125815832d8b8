// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace tracectl {

// Which children of a process, forked later, are of the target, too.
enum class Follow : uint8_t { none, children, first_child };

// The processes in which a setting's probes are to fire. Empty: nobody chosen.
struct Target {
  std::vector<pid_t> pids;
  std::vector<std::string> executables;  // every process that runs one of these, now or later
  bool all = false;                      // every process that maps the object
  // Where the one process in `pids` has not executed its program yet: the paths of what it is
  // going to map, its executable first.
  std::vector<std::string> will_map;
  // Which process each of `pids` means, once the setting is staged (Process::birth): a number can
  // come to mean another one. 0: it has ended, and is passed over.
  std::vector<uint64_t> births = {};
  Follow follow = Follow::none;  // of `pids`
  // Every process in one of these cgroups of version 2 or below it, now or later: paths from the root of
  // their hierarchy, /system.slice/ssh.service.
  std::vector<std::string> cgroups = {};
  std::vector<std::string> units = {};  // of systemd's: as the cgroups it makes for them
  // Those cgroups, in the order of `units`, once the setting is staged.
  std::vector<std::string> unit_cgroups = {};
  // Of those cgroups the ones that were not there: what systemd will execute in them.
  std::map<std::string, std::vector<std::string>> planned = {};

  bool follows_cgroups() const { return !cgroups.empty() || !units.empty(); }
  bool empty() const { return pids.empty() && executables.empty() && !all && !follows_cgroups(); }
  // Whether users would say the same of both.
  bool operator==(const Target& other) const {
    return pids == other.pids && executables == other.executables && all == other.all &&
           will_map == other.will_map && follow == other.follow && cgroups == other.cgroups &&
           units == other.units;
  }
};

}  // namespace tracectl
