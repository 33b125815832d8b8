// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>

#include "daemon/model/setting.h"
#include "daemon/process/process.h"

namespace tracectl {

// Why a setting is covered: it is a user's, or the engine adds it beside a user's.
enum class Beside : uint8_t {
  nothing,  // the user's setting itself
  tags,     // probes by which programs report their threads' tags
  below,    // functions that are called below a graph's roots
  within,   // probes that are shown if they fire within a graph
  callees,  // calls with unknown targets
};
constexpr Beside last_of(Beside) { return Beside::callees; }
// Returns the setting that the engine adds beside a user's setting. No client staged it.
Setting beside(const Setting& setting, Beside what);
// Returns the setting for a file that this process maps and the target's others need not. Null: for
// each of its processes.
Setting of_one_file(Setting setting, const Process* process);

}  // namespace tracectl
