// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>

#include "daemon/base/fd.h"

namespace tracectl {

// Opens a debug file for a process that reads `object`, which has named it: a file may have taken that
// process over. So it gets only what lies where debug files are installed, and regular files beside the
// object that have the same owner and lie on the same file system. None where it is anything else, and none that
// those who may read the object may not read: what it says is shown to all of them.
Fd open_debug_file(const std::string& wished, const std::string& object_path, int object);

}  // namespace tracectl
