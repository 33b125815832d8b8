// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <sys/types.h>

#include <map>
#include <utility>

#include "daemon/base/result.h"
#include "daemon/kernel/kernel.h"
#include "daemon/trace/id_pool.h"

namespace tracectl {

// The sets of processes that run an executable (`-x`). The programs in the kernel keep a set true
// from the moment it exists; this adds the processes that were there before, and ends sets that
// nobody uses.
class SetTargets {
 public:
  explicit SetTargets(Kernel& kernel) : kernel_(kernel) {}

  // The number of the executable's set, for tc_hook.set_target.
  Result<uint16_t> take(dev_t device, ino_t inode);
  void give_back(uint16_t set_target);

 private:
  using Executable = std::pair<dev_t, ino_t>;
  struct Set {
    uint32_t number = 0;
    size_t users = 0;
  };

  Result<uint32_t> make(const Executable& executable);
  void add_running(const Executable& executable, uint32_t number);

  Kernel& kernel_;
  IdPool numbers_{0, TC_MAX_SET_TARGETS};
  std::map<Executable, Set> sets_;
};

}  // namespace tracectl
