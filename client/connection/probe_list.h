// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <vector>

#include "client/connection/backend.h"
#include "daemon/protocol/messages.h"

namespace tracectl {

// What can be traced in the target, as far as this user may: with the files and the processes that it can open.
Result<protocol::ProbeListReply> list_probes(Backend& backend,
                                             const std::vector<std::string>& patterns,
                                             const std::string& scope,
                                             const protocol::TargetPart& target);

}  // namespace tracectl
