// SPDX-License-Identifier: BSD-2-Clause
#include "client/target/later_containers.h"

#include "client/target/containers.h"

namespace tracectl {

std::vector<std::string> LaterContainers::come() {
  if (!are_awaited() || Clock::now() < next_) return {};
  next_ = Clock::now() + std::chrono::milliseconds(kEveryMs);
  auto running = cgroups_of_running(options_.containers, options_.pods);
  std::erase_if(running, [&](const std::string& path) { return there_.contains(path); });
  return {running.begin(), running.end()};
}

}  // namespace tracectl
