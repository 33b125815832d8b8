// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>

#include "daemon/base/fd.h"

namespace tracectl {

// Opens a debug file for a process that reads `object` and asked for it. The object may have taken
// over that process. So it only gets files in the places where debug files are installed, and
// regular files with the same owner and on the same file system that are beside the object or, with
// the units of split debug information (.dwo), below a directory that is above the object, too. None
// for all others, and for files that not everybody who may read the object may read, because all of them
// see the contents.
Fd open_debug_file(const std::string& wished, const std::string& object_path, int object);

}  // namespace tracectl
