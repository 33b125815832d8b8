// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <optional>

#include "client/options/options.h"
#include "daemon/process/command.h"
#include "daemon/protocol/messages.h"

namespace tracectl {

// The target of the options; with -- COMMAND also the command, which is started and waits until it is
// released. It is the target, unless executables are.
struct ChosenTarget {
  protocol::TargetPart part;
  std::optional<Command> command;
};

Result<ChosenTarget> choose_target(const ProbeOptions& options);
// Whether it names any processes.
bool chooses_target(const ProbeOptions& options);
bool is_chosen(const protocol::TargetPart& target);
const char* scope_of(const ProbeOptions& options);

}  // namespace tracectl
