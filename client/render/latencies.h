// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <vector>

#include "daemon/protocol/messages.h"

namespace tracectl {

// For each pair of probes: how many began and ended, and the slowest.
std::string latencies_text(const std::vector<protocol::LatencyPart>& latencies);

}  // namespace tracectl
