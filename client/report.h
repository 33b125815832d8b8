// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "client/render/call_tree.h"
#include "client/verbs.h"

namespace tracectl {

// Prints at most `rows` of a table; for Form::calls, which is not a sum, the table by function. `lost`:
// events, or calls that the kernel has not counted. `is_end_known`: no more can be missing.
void print_sums(const CommonOptions& common, const CallTree& calls, GraphChoice::Form form,
                size_t rows, uint64_t lost, bool is_end_known = true);

}  // namespace tracectl
