// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <optional>
#include <string>

#include "daemon/model/event.h"

namespace tracectl {

// The arguments of a call: `sql="SELECT 1", 5`.
std::string arguments_text(const Event& event);

// The result of a call: `27`; `rax=27` for the register of a function of which nothing is known; `?` and why if no probe
// can read it. None if the event has none.
std::optional<std::string> result_text(const Event& event);

// The result as it follows a call: ` = 27`, ` rax=27`; empty if there is none.
std::string ending_text(const Event& event);

}  // namespace tracectl
