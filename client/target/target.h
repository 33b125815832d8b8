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
  protocol::TargetPart part;  // `cgroups` has also those of containers
  std::optional<protocol::ContainersPart> containers = {};
  std::optional<Command> command = {};
};

Result<ChosenTarget> choose_target(const ProbeOptions& options);
// For a session that is to keep the names: their cgroups are those of the names only.
protocol::TargetPart with_names(protocol::TargetPart part,
                                const std::optional<protocol::ContainersPart>& containers);
// The reverse: all cgroups, and no names.
protocol::TargetPart with_cgroups_only(protocol::TargetPart part);
// Whether it names any processes.
bool chooses_target(const ProbeOptions& options);
bool is_chosen(const protocol::TargetPart& target);
const char* scope_of(const ProbeOptions& options);

}  // namespace tracectl
