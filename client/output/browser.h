// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>

#include "daemon/base/result.h"

namespace tracectl {

// Shows a file in the user's browser: $BROWSER, a command as a shell reads it, or xdg-open. Waits for that command.
Status open_in_browser(const std::string& file);

}  // namespace tracectl
