// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace tracectl {

std::vector<pid_t> all_processes();  // in ascending order

// `device` and `inode` are those of stat(2). Processes that end meanwhile, or that may not be
// inspected, are left out. In ascending order.
std::vector<pid_t> processes_running(dev_t device, ino_t inode);  // whose executable the file is
std::vector<pid_t> processes_mapping(dev_t device, ino_t inode);  // with executable mappings of it

// The time at which the process was forked, since boot and at most a clock tick too early; none if
// it has ended.
std::optional<uint64_t> started_ns(pid_t pid);

}  // namespace tracectl
