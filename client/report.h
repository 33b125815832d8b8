// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>

#include "client/render/call_tree.h"
#include "client/verbs.h"

namespace tracectl {

// Sums of calls, of a table so many rows; of Form::calls, which is none, those by function.
std::string text_of(const CallTree& calls, GraphChoice::Form form, size_t rows);

}  // namespace tracectl
