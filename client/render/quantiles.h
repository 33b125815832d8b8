// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <optional>

#include "daemon/protocol/messages.h"

namespace tracectl {

// A member of a row of times, in ns; none if the row lacks it.
std::optional<uint64_t> ns_of(const std::optional<protocol::Integer>& member);

// A bound in ns that this percentage of the row's times do not exceed: the end of the bucket in which it is reached, or
// the greatest of all times if that is less. At most twice the time itself. None without times.
std::optional<uint64_t> quantile_bound(const protocol::RowPart& row, unsigned percent);

}  // namespace tracectl
