// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <sys/types.h>

#include <string_view>

#include "daemon/process/process.h"

namespace tracectl {

enum class Served { no, yes, unknown };

// Whether another process has to be asked for what files of this device hold (FUSE), by the text of a mountinfo,
// proc(5). Unknown where nothing of the device is mounted.
Served served_by_process(std::string_view mountinfo, dev_t device);

// Whether who reads what the process has mapped of a file of this device, as /proc/PID/maps has it, may wait for as
// long as another process likes. So it is taken to be where the file system was unmounted while in use.
bool may_wait_for_others(const Process& process, dev_t device);

}  // namespace tracectl
