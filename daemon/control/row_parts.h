// SPDX-License-Identifier: BSD-2-Clause
//
// The results of aggregates as parts of messages.
#pragma once

#include <vector>

#include "daemon/model/latencies.h"
#include "daemon/model/rows.h"
#include "daemon/protocol/messages.h"

namespace tracectl {

// Sorted by count, the highest first.
std::vector<protocol::RowPart> parts_of(const Rows& rows);
std::vector<protocol::LatencyPart> parts_of(const Latencies& latencies);
// In the order of their numbers: a caller comes before its callees.
std::vector<protocol::PathPart> parts_of(const CallPaths& paths);

}  // namespace tracectl
