// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "daemon/base/result.h"

namespace tracectl {

// The absolute real paths of the files that a program will map at its start: the executable first
// (for a script its interpreter), then its libraries, as its own dynamic loader finds them in this
// process's environment. Runs that loader, which the file names, so use it only for a program that
// the caller is about to run anyway.
Result<std::vector<std::string>> will_map(const std::string& path);

// The paths in the output of `ld.so --list`, as printed.
std::vector<std::string> parse_loader_list(std::string_view text);

}  // namespace tracectl
