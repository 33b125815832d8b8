// SPDX-License-Identifier: BSD-2-Clause
//
// The order of rows of times.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/protocol/messages.h"

namespace tracectl {

// By a column of the table; all but `name` begin with the greatest.
enum class RowOrder : uint8_t { calls, total, self, avg, min, max, p50, p90, p99, name };

std::optional<RowOrder> row_order_named(std::string_view name);
// "calls, total, ..."
std::string row_order_names();

// Whether its values are the times for which threads were blocked.
bool is_of_blocks(const protocol::RowPart& row);
// Whether its values are durations: of calls, from one probe to another, or for which threads were blocked. For these
// the sum is there.
bool is_of_times(const protocol::RowPart& row);

// Sorts those that are of times, and puts them before all others.
void sort_rows(std::vector<protocol::RowPart>& rows, RowOrder order);

}  // namespace tracectl
