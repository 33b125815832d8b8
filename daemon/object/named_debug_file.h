// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>

#include "daemon/base/fd.h"

namespace tracectl {

// A file with the debug information of another one, which a user has named and opened.
struct NamedDebugFile {
  Fd fd;
  std::string path;
};

}  // namespace tracectl
