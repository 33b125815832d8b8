// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "daemon/model/argument.h"
#include "daemon/model/cost.h"

namespace tracectl {

// One address at which a probe fires.
struct Site {
  uint64_t offset = 0;       // of the probed instruction, in the file
  uint64_t moved_bytes = 0;  // behind the function's start or the offset asked for
  uint64_t semaphore = 0;    // in the file, 0 if there is none
  CostClass cost = CostClass::slow;
  std::shared_ptr<const Arguments> args;
};

// A function or USDT probe of one object.
struct Probe {
  std::string name;  // canonical: uprobe:PATH:FUNCTION or usdt:PATH:PROVIDER:NAME
  std::optional<std::string> demangled;
  std::vector<Site> sites;
};

// A probe or a site of it that matched and cannot be armed.
struct Refusal {
  std::string probe;
  std::optional<uint64_t> offset;  // in the file
  std::optional<pid_t> pid;        // where the reason is one process's
  std::string reason;
};

}  // namespace tracectl
