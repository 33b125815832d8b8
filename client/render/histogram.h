// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>

#include "daemon/protocol/messages.h"

namespace tracectl {

// A line for each bucket, with a bar. Empty buckets between others are shown too: each of a log2
// histogram, a row of them as one in a linear histogram. K is 1024 in bounds of the former.
std::string histogram_text(const protocol::RowPart& row);

}  // namespace tracectl
