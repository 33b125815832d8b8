// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <sys/types.h>

#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "daemon/base/id_pool.h"
#include "daemon/base/result.h"
#include "daemon/kernel/sets.h"
#include "daemon/model/target.h"
#include "daemon/process/process.h"

namespace tracectl {

// Sets of processes: those that run an executable (`-x`), a process with its children (`-f`), and those
// in a cgroup (`-u`, `--cgroup`). The BPF programs keep a set up to date from the moment it exists; this
// class adds the processes that existed before, and ends sets that nobody uses.
class SetTargets {
 public:
  explicit SetTargets(Sets& kernel_sets) : kernel_sets_(kernel_sets) {}

  // Returns the number of the executable's set, for tc_hook.set_target.
  // `saved`: the set's number in a former daemon, if it has been kept up to date since then; or 0.
  Result<uint16_t> take(dev_t device, ino_t inode, uint16_t saved = 0);
  // Returns the number of the set of the process, which is one of the target's, and the children that the
  // target follows. Each session has its own set, because the time it begins decides which children are
  // in it.
  Result<uint16_t> take_family(uint16_t session, const Process& process, const Target& target,
                               uint16_t saved = 0);
  // Returns the number of the set of the cgroup at this path from the root of its hierarchy. The cgroup
  // need not exist.
  Result<uint16_t> take(const std::string& cgroup, uint16_t saved = 0);
  // Takes over these sets of a former daemon; ends all others.
  void restore(const std::vector<uint32_t>& numbers);
  // Ends those of them that nobody has taken.
  void end_restoring();
  void give_back(uint16_t set_target);

 private:
  using Executable = std::pair<dev_t, ino_t>;
  struct Family {
    uint16_t session = 0;
    pid_t pid = 0;
    uint64_t birth = 0;
    Follow follow = Follow::none;
    Executable executable;  // a child that executes it stays in the set

    auto operator<=>(const Family&) const = default;
  };
  struct Cgroup {
    std::string path;

    auto operator<=>(const Cgroup&) const = default;
  };
  using Key = std::variant<Executable, Family, Cgroup>;
  struct Set {
    uint32_t number = 0;
    size_t users = 0;
  };

  Result<uint16_t> take(const Key& key, uint16_t saved);
  Result<uint32_t> make(const Key& key);
  Status begin(const Executable& executable, uint32_t number);
  Status begin(const Family& family, uint32_t number);
  Status begin(const Cgroup& cgroup, uint32_t number);
  void end(const Executable& executable, uint32_t number);
  void end(const Family& family, uint32_t number);
  void end(const Cgroup& cgroup, uint32_t number);
  Status add_cgroups(const std::string& path, uint32_t number);
  void add_running(const Executable& executable, uint32_t number);

  Sets& kernel_sets_;
  IdPool numbers_{0, TC_MAX_SET_TARGETS};
  std::map<Key, Set> sets_;
  std::vector<uint32_t> restored_;
};

}  // namespace tracectl
