// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <sys/types.h>

#include <string_view>

#include "daemon/process/process.h"

namespace tracectl {

enum class Served { no, yes, unknown };

// Whether another process serves the contents of this device's files (FUSE), according to the text
// of a mountinfo, proc(5). Unknown if nothing of the device is mounted.
Served served_by_process(std::string_view mountinfo, dev_t device);

// Whether a read of a file on this device (as in /proc/PID/maps) that the process has mapped may
// wait for another process, without limit. Assumed if the file system was unmounted while in use.
bool may_wait_for_others(const Process& process, dev_t device);

}  // namespace tracectl
