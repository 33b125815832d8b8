// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>

#include "daemon/protocol/messages/parts.h"

namespace tracectl {

// The options of the command line that choose this target.
std::string target_text(const protocol::TargetPart& target);

}  // namespace tracectl
