// SPDX-License-Identifier: BSD-2-Clause
//
// Stacks of events on the wire: written without nlohmann/json, as the events are (events.h).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "daemon/base/result.h"
#include "daemon/model/stack.h"
#include "daemon/protocol/messages/stacks.h"

namespace tracectl::protocol {

// ,"stack":[...],"stack_by":"unwind_tables","stack_end":"outermost"
void append_stack(std::string& out, const Stack& stack);

FramePart part_of(const Frame& frame);
std::vector<FramePart> parts_of(const Stack& stack);
Frame frame_of(const FramePart& part);

// Fails for unknown words, and if only some of the three are there.
Result<std::optional<Stack>> stack_of(const std::optional<std::vector<FramePart>>& frames,
                                      const std::optional<std::string>& by,
                                      const std::optional<std::string>& end);

}  // namespace tracectl::protocol
