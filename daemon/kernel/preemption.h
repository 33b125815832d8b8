// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <optional>
#include <string_view>

namespace tracectl {

// What a command line of the kernel says of whether it preempts tasks that run in it: preempt=none,
// voluntary, full or lazy, of several the last. None if it leaves that to the kernel's configuration.
std::optional<bool> preempts(std::string_view command_line);

// The same of the running kernel's.
std::optional<bool> told_to_preempt();

}  // namespace tracectl
