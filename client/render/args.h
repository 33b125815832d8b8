// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <optional>
#include <string>

#include "daemon/model/event.h"

namespace tracectl {

// What a call was given: `sql="SELECT 1", 5`.
std::string arguments_text(const Event& event);

// What a call returned; none where the event has nothing of it.
std::optional<std::string> result_text(const Event& event);

}  // namespace tracectl
