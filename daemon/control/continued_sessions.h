// SPDX-License-Identifier: BSD-2-Clause
//
// Saved sessions that the daemon before has left.
#pragma once

#include <functional>
#include <string>

#include "daemon/control/commands.h"

namespace tracectl {

// Which of those that began by a file are to go on: `began` is the text of the file then.
using IsToGoOn = std::function<bool(const std::string& session, const std::string& began)>;

// Begins them again, under their names and for their users, who may do no more than they may now. What of it fails is
// logged, and the session says it; the rest goes on. Waits for files to be read.
void continue_sessions(KeptSessions::Left left, const IsToGoOn& is_to_go_on, Engine& engine,
                       Commands& commands);

}  // namespace tracectl
