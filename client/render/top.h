// SPDX-License-Identifier: BSD-2-Clause
//
// What armed probes were hit in an interval, from two readings of their counters.
#pragma once

#include <cstddef>
#include <string>

#include "daemon/protocol/messages.h"
#include "daemon/protocol/top.h"

namespace tracectl {

// Those that cost most first. One that is not in `before`, or has less there, was armed meanwhile.
protocol::TopTablePart top_table(const protocol::TopReply& before, const protocol::TopReply& now);

// At most so many rows.
std::string top_text(const protocol::TopTablePart& table, size_t rows);

}  // namespace tracectl
