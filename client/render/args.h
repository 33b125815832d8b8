// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <optional>
#include <string>

#include "daemon/model/event.h"

namespace tracectl {

// The arguments of a call: `sql="SELECT 1", 5`.
std::string arguments_text(const Event& event);

// The result of a call; none if the event has none.
std::optional<std::string> result_text(const Event& event);

}  // namespace tracectl
