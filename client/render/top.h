// SPDX-License-Identifier: BSD-2-Clause
//
// The hits of armed probes in an interval, from two readings of their counters.
#pragma once

#include <cstddef>
#include <string>

#include "daemon/protocol/messages.h"
#include "daemon/protocol/top.h"

namespace tracectl {

// Sorted by cost, the highest first. A probe that is not in `before`, or has fewer hits now, was armed in
// between.
protocol::TopTablePart top_table(const protocol::TopReply& before, const protocol::TopReply& now);

// At most this many rows.
std::string top_text(const protocol::TopTablePart& table, size_t rows);

}  // namespace tracectl
