// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>

#include "daemon/protocol/messages/parts.h"

namespace tracectl {

// As in the command: "64.0 MiB", "10 s".
std::string recorder_bound_text(const protocol::RecorderBoundPart& bound);

// A line: "recorder of 64.0 MiB: 12 events of 3.2 s in 4.0 KiB, 0 lost, 5 overwritten".
std::string recorder_text(const protocol::RecorderPart& recorder);

}  // namespace tracectl
