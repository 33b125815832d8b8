// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string_view>

#include "daemon/saved/engine_state.h"

namespace tracectl {

// Reads the state that tracectld wrote before its version 3, without the version. Returns false if it cannot be read.
bool read_version_2(std::string_view bytes, EngineState& state);

}  // namespace tracectl
