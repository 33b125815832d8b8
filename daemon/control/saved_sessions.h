// SPDX-License-Identifier: BSD-2-Clause
//
// Sessions that begin with the daemon, and those that go on with it.
#pragma once

#include <string>

#include "daemon/control/commands.h"

namespace tracectl {

// First those that the daemon before has left (continued_sessions.h), but not what began by a file that says
// something else now, or is gone. Then those of the files NAME.json in the folder, which are an administrator's: they may trace every process.
// All are made before any has settings, as these may trigger others. What is wrong is logged, and the
// others begin; one whose settings cannot be armed keeps them as its draft. Waits for files to be read.
void begin_saved_sessions(const std::string& folder, Engine& engine, Commands& commands);

}  // namespace tracectl
