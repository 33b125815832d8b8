// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <vector>

#include "daemon/base/result.h"

namespace tracectl::generator {

Result<std::string> read_file(const std::string& path);

// The output of `$CC -E OPTIONS PATH`; with cc if $CC is not set. Error messages go to the standard
// error.
Result<std::string> preprocess(const std::string& path, const std::vector<std::string>& options);

// "-" is the standard output. Removes a regular file that could not be written completely.
Status write_file(const std::string& path, const std::string& text);

}  // namespace tracectl::generator
