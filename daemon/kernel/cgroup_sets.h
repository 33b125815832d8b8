// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <string>

#include "daemon/base/result.h"

struct tc_cgroup_name;
struct tc_sets;

namespace tracectl {

// The kernel's tables that say which cgroups belong to which set targets. The BPF programs add cgroups
// that are made later (bpf/cgroups.bpf.h). The functions are described in daemon/kernel/kernel.h.
class CgroupSets {
 public:
  // Descriptors of BPF maps, borrowed.
  struct Tables {
    int cgroups;
    int names;
  };
  explicit CgroupSets(const Tables& tables) : tables_(tables) {}

  Status follow_cgroup(uint64_t parent, const std::string& name, uint32_t set_target);
  Status add_cgroup(uint64_t id, uint32_t set_target);
  void clear_cgroups(uint32_t set_target);
  void end_sets_but(const tc_sets& kept);

 private:
  Tables tables_;
};

}  // namespace tracectl
