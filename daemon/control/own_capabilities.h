// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "daemon/base/result.h"

namespace tracectl {

// Makes effective what this process is permitted: a program whose file gives it capabilities, as that of a container's
// image, begins without. Fails with Code::denied, and the names, if the daemon could not work without those that are
// missing.
Status take_capabilities();

// Fails with Code::denied, and says what to do, if a command could load no program without a daemon.
Status check_capabilities_of_command();

}  // namespace tracectl
