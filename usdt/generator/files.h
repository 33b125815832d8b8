// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <vector>

#include "daemon/base/result.h"

namespace tracectl::generator {

Result<std::string> read_file(const std::string& path);

// What `$CC -E OPTIONS PATH` prints; cc where $CC is not set. Its complaints go to the standard error.
Result<std::string> preprocess(const std::string& path, const std::vector<std::string>& options);

// "-" is the standard output. A regular file that could not be written whole is removed.
Status write_file(const std::string& path, const std::string& text);

}  // namespace tracectl::generator
