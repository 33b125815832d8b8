// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <vector>

namespace tracectl::ui {

// The patterns of what is typed so far: as written, and with whatever can follow. Of nothing, the functions and USDT
// probes of the main executable.
std::vector<std::string> patterns_of_typed(const std::string& typed);

}  // namespace tracectl::ui
