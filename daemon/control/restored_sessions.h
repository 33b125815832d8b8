// SPDX-License-Identifier: BSD-2-Clause
//
// Saved sessions that the previous daemon left.
#pragma once

#include <functional>
#include <string>

#include "daemon/control/commands.h"

namespace tracectl {

// Whether a session that was begun from a file goes on: `began` is the text that the file had then.
using IsToRestore = std::function<bool(const std::string& session, const std::string& began)>;

// Begins them again under their names and for their users, who get no more rights than they have now. Parts that fail
// are logged and shown by the session; the rest goes on. Waits for files to be read.
void restore_sessions(SavedSessions::Left left, const IsToRestore& is_to_restore, Engine& engine,
                      Commands& commands);

}  // namespace tracectl
