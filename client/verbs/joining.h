// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <functional>
#include <set>
#include <string>

#include "client/target/later_containers.h"
#include "daemon/base/result.h"

namespace tracectl {

// Brings containers that are created later under a chosen name into a trace, and says so.
class Joining {
 public:
  static constexpr int kEveryMs = LaterContainers::kEveryMs;

  // `add` traces what runs in a cgroup, now or later.
  Joining(LaterContainers later, std::function<Status(const std::string& cgroup)> add, bool quiet)
      : later_(std::move(later)), add_(std::move(add)), quiet_(quiet) {}

  // Call it often; it looks every kEveryMs. What fails is said once, and tried again: a new container may not have
  // executed its program yet.
  void go_on();

 private:
  LaterContainers later_;
  std::function<Status(const std::string& cgroup)> add_;
  bool quiet_;
  std::set<std::string> failed_;
};

}  // namespace tracectl
