// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <vector>

#include "client/ui/live_screen.h"

namespace tracectl::ui {

// The stacks of a probe, the most frequent first: how often, then the frames, the innermost first.
std::vector<StackLine> stack_lines_of(const std::vector<protocol::RowPart>& rows,
                                      const std::string& probe);

}  // namespace tracectl::ui
