// SPDX-License-Identifier: BSD-2-Clause
//
// Sums of calls as text. Tables have at most `rows` rows; a line says how many more there are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "client/render/call_tree.h"

namespace tracectl {

// By function, sorted by its own time, the longest first. The total leaves out calls within another call of
// the same function.
std::string function_table(const CallTree& calls, size_t rows = SIZE_MAX);
// The tree; shares are of the time of all outermost calls. Lines below 64 levels are not indented further:
// their depth is in front of the function, `[64] walk`.
std::string tree_text(const CallTree& calls, size_t rows = SIZE_MAX);
// `main;query;parse 1234`, with its own time in nanoseconds: the input of programs that draw flame graphs.
// All calls below 1000 levels are one: `[deeper]`.
std::string folded_text(const CallTree& calls);
// By function: `before`, `after` and the change, the greatest growth first.
std::string comparison_text(const CallTree& before, const CallTree& after, size_t rows = SIZE_MAX);

}  // namespace tracectl
