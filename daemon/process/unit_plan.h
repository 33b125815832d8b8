// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/base/result.h"

namespace tracectl {

// What systemd would do to start a service that does not run.
struct UnitPlan {
  std::string cgroup;  // it would make, as a path from the root of the hierarchy
  std::vector<std::string>
      programs;  // it would execute; none where they are in a root of their own
};

// Asks systemd by the system's bus, and blocks until `end_ns`, of boot_ns(), at most. Fails with
// Code::not_found where systemd knows no such unit, with Code::invalid where it cannot be started, and with
// Code::unsupported or Code::busy where it is no service, or nobody answers.
Result<UnitPlan> plan_of_unit(const std::string& unit, uint64_t end_ns);

// /a.slice/a-b.slice of a-b.slice: systemd.slice(5).
std::string cgroup_of_slice(std::string_view slice);

}  // namespace tracectl
