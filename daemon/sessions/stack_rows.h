// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "daemon/model/rows.h"
#include "daemon/stream/symbolizer.h"

namespace tracectl {

// The kernel keeps rows `by stack` and `by caller` by addresses. This replaces the addresses by the code
// there, and joins the rows of processes that had the same code at different addresses.
void name_stacks(Rows& rows, Symbolizer& symbolizer, const std::optional<Owner>& owner);

}  // namespace tracectl
