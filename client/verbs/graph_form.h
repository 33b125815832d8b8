// SPDX-License-Identifier: BSD-2-Clause
//
// The forms in which verbs show calls: as they come, or summed up at the end.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "client/render/call_tree.h"
#include "client/verbs/grammar.h"

namespace tracectl {

enum class GraphForm { calls, functions, tree, folded };  // all but the first are sums

// The options for the form of sums, which exclude each other.
std::array<Option, 2> add_forms(Grammar& grammar, GraphForm& form);
Status check_form(const CommonOptions& common, GraphForm form);

// Prints at most `rows` of a table; for GraphForm::calls, which is not a sum, the table by function. `lost`:
// events, or calls that the kernel has not counted. `is_end_known`: no more can be missing.
void print_sums(const CommonOptions& common, const CallTree& calls, GraphForm form, size_t rows,
                uint64_t lost, bool is_end_known = true);

// On standard error: the threads whose calls are shown without an end, most likely because they have ended.
void report_forgotten(const CallTree& calls);

}  // namespace tracectl
