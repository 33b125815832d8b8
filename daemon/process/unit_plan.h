// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/base/result.h"

namespace tracectl {

// How systemd would start a service that does not run.
struct UnitPlan {
  std::string cgroup;  // that it would make, as a path from the root of the hierarchy
  std::vector<std::string>
      programs;  // that it would execute; none if they are in another root directory
};

// Asks systemd over the system bus, and blocks until `end_ns`, of boot_ns(), at most. Fails with
// Code::not_found if systemd has no such unit, with Code::invalid if it cannot be started, with
// Code::unsupported if it is no service, if its cgroup cannot be predicted or systemd not be reached,
// and with Code::busy if systemd does not answer.
Result<UnitPlan> plan_of_unit(const std::string& unit, uint64_t end_ns);

// "/a.slice/a-b.slice" for "a-b.slice": systemd.slice(5).
std::string cgroup_of_slice(std::string_view slice);

}  // namespace tracectl
