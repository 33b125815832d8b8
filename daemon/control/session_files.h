// SPDX-License-Identifier: BSD-2-Clause
//
// Sessions that begin with the daemon, and sessions that it restores from the previous daemon.
#pragma once

#include <string>

#include "daemon/control/commands.h"

namespace tracectl {

// First restores the sessions that the previous daemon left (restored_sessions.h), except those that began from a
// file that has changed or is gone. Then begins those of the files NAME.json in the folder. An administrator writes
// these, so they may trace every process. All sessions are made before any gets settings, because these may trigger
// other sessions. Errors are logged, and the other sessions begin; a session whose settings cannot be armed keeps
// them as its draft. Waits for files to be read.
void begin_sessions(const std::string& folder, Engine& engine, Commands& commands);

}  // namespace tracectl
