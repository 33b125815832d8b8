// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <chrono>
#include <set>
#include <string>
#include <vector>

#include "client/options/options.h"

namespace tracectl {

// Containers and pods that are chosen by name and are created later. The files of their names are read again each
// second.
class LaterContainers {
 public:
  static constexpr int kEveryMs = 1000;

  // `there`: the cgroups of those that run already.
  LaterContainers(const ProbeOptions& options, const std::vector<std::string>& there)
      : options_(options), there_(there.begin(), there.end()) {}

  // Whether any are chosen.
  bool are_awaited() const { return !options_.containers.empty() || !options_.pods.empty(); }
  // The cgroups of those that run and have not joined; looks once in kEveryMs.
  std::vector<std::string> come();
  void joined(const std::string& cgroup) { there_.insert(cgroup); }

 private:
  using Clock = std::chrono::steady_clock;

  ProbeOptions options_;
  std::set<std::string> there_;
  Clock::time_point next_ = Clock::now() + std::chrono::milliseconds(kEveryMs);
};

}  // namespace tracectl
