// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>

#include "daemon/protocol/messages.h"

namespace tracectl {

// A line for each bucket, with a bar. Empty buckets between others are shown, too: each one of a log2
// histogram, and in a linear histogram a run of them as one line. In the bounds of a log2 histogram K is
// 1024. Those of durations have units of time, rounded in a log2 histogram.
std::string histogram_text(const protocol::RowPart& row);

}  // namespace tracectl
