// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <string>

#include "daemon/protocol/messages.h"

namespace tracectl {

// A table for each kind of row: what is counted and summed up, whose value, by which keys; then
// the histograms; then what it all comes to.
std::string rows_text(const protocol::ReadReply& reply);

// The same with at most `most` rows in a table, and histograms of as many.
std::string first_rows_text(const protocol::ReadReply& reply, size_t most);

// A key's value in a table.
std::string key_text(const protocol::Key& key);

}  // namespace tracectl
