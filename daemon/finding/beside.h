// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>

#include "daemon/model/setting.h"
#include "daemon/process/process.h"

namespace tracectl {

// What the engine covers with a setting, beside what that itself is for.
enum class Beside : uint8_t {
  nothing,  // this is the setting
  tags,     // where programs tell of their threads' tags
  below,    // functions that are called below a graph's roots
  within,   // probes that are shown where they fire within a graph
  callees,  // calls that lead nobody knows where
};
// Of the setting of a user; what comes beside it has a setting of its own, which nobody staged.
Setting beside(const Setting& setting, Beside what);
// As it is in a file of one of its processes that the others need not have; none: in each.
Setting of_one_file(Setting setting, const Process* process);

}  // namespace tracectl
