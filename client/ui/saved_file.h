// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "client/ui/requests.h"

namespace tracectl::ui {

// Writes a session that begins with the daemon, as `tracectl session save` prints it: tracectld-sessions(8). It is for
// every process that runs the program of this one, because a process id names another process later.
Status write_session_file(const SaveAs& request, int64_t pid, double budget);

}  // namespace tracectl::ui
