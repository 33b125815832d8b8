// SPDX-License-Identifier: BSD-2-Clause
//
// Sums of calls as people read them. Of tables at most `rows` rows; a line tells how many more there
// are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "client/render/call_tree.h"

namespace tracectl {

// By function, those with the most time of their own first. A call within another of the same
// function is no part of the total.
std::string function_table(const CallTree& calls, size_t rows = SIZE_MAX);
// The tree; shares are of what all outermost calls took. Below 64 levels lines are not indented
// further: how many calls are around theirs stands in front of the function, `[64] walk`.
std::string tree_text(const CallTree& calls, size_t rows = SIZE_MAX);
// `main;query;parse 1234`: nanoseconds of its own, as programs that draw flame graphs read them. What
// is below 1000 levels is one: `[deeper]`.
std::string folded_text(const CallTree& calls);
// By function: `before`, `after` and what has changed, the greatest growth first.
std::string comparison_text(const CallTree& before, const CallTree& after, size_t rows = SIZE_MAX);

}  // namespace tracectl
