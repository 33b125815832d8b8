// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <string>

#include "daemon/protocol/messages.h"

namespace tracectl {

// A table for each kind of row, of counts, sums and the other figures of values, by keys; then the
// histograms; then a summary.
std::string rows_text(const protocol::ReadReply& reply);

// The same with at most `most` rows in each table, and at most as many histograms.
std::string first_rows_text(const protocol::ReadReply& reply, size_t most);

// A key's value in a table.
std::string key_text(const protocol::Key& key);

}  // namespace tracectl
